"""Whether the subsystems of a running service run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.check import Check, CheckContext, Finding, ok, skipped
from svc.nursery import Root

_NOT_SERVING: Final = frozenset({"failed", "restarting"})


def engine_state(root: Root, *, no_room: bool = False) -> str:
    """``no_room``: who only starts again because nothing can be written has not failed."""
    if root.draining:
        return "draining"
    phases = {name: state.phase for name, state in root.states().items() if not name.startswith("mail:")}
    if any(phase == "starting" for phase in phases.values()):
        return "starting"
    if any(phase in _NOT_SERVING and not (no_room and phase == "restarting") for phase in phases.values()):
        return "failed"
    return "ok"


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
    broken = ", ".join(f"{name} ({one.phase})" for name, one in phases if one.phase in _NOT_SERVING)
    return [
        Finding(
            state="failed",
            detail=f"Not all subsystems run: {broken}",
            remedy="The log says why, at subsystem.crashed; what crashed is started again by itself",
        )
    ]


CHECKS: Final = (Check(name="engine", summary="The parts of the service run.", run=_engine, readyz="always"),)
