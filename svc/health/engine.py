"""Checks that the subsystems of a running service run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.check import Check, CheckContext, Finding, ok, skipped
from svc.nursery import NOT_SERVING, Root, Verdict, verdict_on


def engine_state(root: Root, *, no_room: bool = False) -> Verdict:
    """``no_room``: the disk is full. A subsystem that restarts only because it can't write then does not count as
    failed."""
    return verdict_on(root, apart="mail:", restarts_count=not no_room)


async def _engine(context: CheckContext) -> Sequence[Finding]:
    workspace = context.workspace
    if workspace is None:
        return [skipped("No service runs")]
    no_room = workspace.store.full or await workspace.blobs.is_full()
    state = engine_state(workspace.root, no_room=no_room)
    if state == "ok":
        return [ok(f"{len(workspace.root.states())} subsystems run")]
    if state in {"starting", "draining"}:
        return [Finding(state="warning", detail=f"The service is {state}", remedy="Wait a moment", public=state)]
    phases = workspace.root.states().items()
    broken = ", ".join(f"{name} ({one.phase})" for name, one in phases if one.phase in NOT_SERVING)
    return [
        Finding(
            state="failed",
            detail=f"Not all subsystems run: {broken}",
            remedy="The log says why, at subsystem.crashed; what crashed is started again by itself",
        )
    ]


CHECKS: Final = (Check(name="engine", summary="The parts of the service run.", run=_engine, readyz="always"),)
