"""Whether all subsystems of a process run, as one word for probes."""

from __future__ import annotations

from typing import Final, Literal

from svc.nursery.root import Root
from svc.nursery.subsystem import Phase

Verdict = Literal["ok", "starting", "draining", "failed"]

NOT_SERVING: Final = frozenset[Phase]({"failed", "restarting"})


def verdict_on(root: Root, *, apart: str | None = None, restarts_count: bool = True) -> Verdict:
    """``apart``: names with this prefix are left out. Without ``restarts_count``, only a subsystem that ended counts as
    failed."""
    if root.draining:
        return "draining"
    phases = {state.phase for name, state in root.states().items() if apart is None or not name.startswith(apart)}
    if "starting" in phases:
        return "starting"
    failed = NOT_SERVING if restarts_count else NOT_SERVING - {"restarting"}
    return "failed" if phases & failed else "ok"
