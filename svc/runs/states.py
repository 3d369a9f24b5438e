"""The states of a run, and the table of its transitions. ``docs/states.md`` draws them.

A run is leased to one worker at a time. ``epoch`` counts the leases; a message from an earlier lease is refused.
"""

from __future__ import annotations

from typing import Final, Literal

from svc.machine import Machine, Transition

RunState = Literal["queued", "running", "waiting", "done", "failed", "cancelled"]
RunEvent = Literal["lease", "wait", "wake", "lose", "finish", "fail", "cancel", "undo", "retry"]

_T = Transition[RunState, RunEvent]

RUN: Final = Machine[RunState, RunEvent](
    name="A run",
    states=("queued", "running", "waiting", "done", "failed", "cancelled"),
    initial=("queued",),
    transitions=(
        _T("lease", ("queued",), "running", "A worker takes it."),
        _T("wait", ("running",), "waiting", "All its branches wait: for a time, a person or another run."),
        _T("wake", ("waiting",), "queued", "What it waited for is there."),
        _T("lose", ("running",), "queued", "Its worker is gone, or has nothing more to say about it."),
        _T("finish", ("running",), "done", "Its code has returned."),
        _T(
            "fail",
            ("queued", "running", "waiting"),
            "failed",
            "Its code has failed or is gone, or it was begun again and again without getting further.",
        ),
        _T("cancel", ("queued", "running", "waiting"), "cancelled", "A person stops it, or the run that began it."),
        _T(
            "undo",
            ("failed",),
            "cancelled",
            "A person undid what it had done, so that it is not retried with the others.",
        ),
        _T("retry", ("failed", "cancelled"), "queued", "A person lets it go on, at its first step that is not done."),
    ),
)

ENDED: Final = frozenset[RunState]({"done", "failed", "cancelled"})
CANCELLABLE: Final = RUN.sources("cancel")
RETRYABLE: Final = RUN.sources("retry")
