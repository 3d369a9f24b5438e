"""Checks that runs find a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.check import Check, CheckContext, Finding, ok, skipped, warning
from svc.runs import queries
from svc.runs.dispatch import Dispatcher
from svc.runs.model import LEASE_MS
from svc.store import ReadTx


def _waiting_long(tx: ReadTx) -> int:
    """How many runs have been due for longer than a healthy worker leaves one waiting."""
    return len(queries.due_before(tx, tx.now - LEASE_MS))


async def _runs(context: CheckContext) -> Sequence[Finding]:
    if context.workspace is None:
        return [skipped("No service runs")]
    waiting = await context.workspace.store.read(_waiting_long)
    workers = context.workspace.service(Dispatcher).workers()
    if waiting and not workers:
        return [warning(f"{waiting} runs wait, and no worker is there", "Start one: svc serve --role=worker")]
    if waiting:
        return [warning(f"{waiting} runs wait for a worker with room", "Start another: svc serve --role=worker")]
    return [ok(f"No run waits for a worker; {len(workers)} there")]


CHECKS: Final = (Check(name="runs", summary="Runs find a worker.", run=_runs),)
