"""Checks whether the replica is complete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.check import Check, CheckContext, Finding, ok, skipped, warning
from svc.replica import rows
from svc.replica.settings import REPLICA_URL


async def _replicated(context: CheckContext) -> Sequence[Finding]:
    if context.config[REPLICA_URL] is None:
        return [ok("Content is not copied to another place: SVC_BLOB_REPLICA_URL is not set")]
    if context.store is None:
        return [skipped("The database is not open")]
    found = await context.store.read(rows.status)
    if not found.enabled:
        return [skipped("The replica begins when the service starts")]
    if found.problem is not None:
        told = f"{found.problem.rstrip('.')}; {found.pending} blobs wait, {found.failed} of them were tried in vain"
        return [
            Finding(
                state="warning",
                detail=told,
                remedy="Nothing is lost here, and it is tried again by itself; see docs/replica.md",
                public="behind",
            )
        ]
    if found.pending:
        return [ok(f"{found.pending} blobs are on their way to the replica")]
    if not found.complete:
        return [warning("The replica has not been compared with what is here yet", "This is done soon after a start")]
    return [ok("The replica has every blob")]


CHECKS: Final = (Check(name="replica", summary="The replica has every blob.", run=_replicated, readyz="trouble"),)
