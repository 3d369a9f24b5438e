"""The check of the public port: whether every connection could be taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from svc.check import Check, CheckContext, Finding, ok, skipped, warning
from svc.surface.listener import Surface


async def _descriptors(context: CheckContext) -> Sequence[Finding]:
    if context.workspace is None:
        return [skipped("Only the running service can tell")]
    if not context.workspace.service(Surface).shortage.is_recent:
        return [ok("The system had a descriptor for every connection")]
    found = warning(
        "The system had no descriptor for a further connection a moment ago, so connections had to wait",
        "Let the service have more open files (`ulimit -n`, LimitNOFILE of systemd)",
    )
    return [replace(found, public="exhausted")]


CHECKS: Final = (
    Check(
        name="descriptors",
        summary="The system has a descriptor for each connection.",
        run=_descriptors,
        readyz="trouble",
    ),
)
