"""Ends a run in which nothing goes on any more, and says what was under way.

A test that hangs ends its own process (``faulthandler_timeout``). This is for what no test is to blame for: a process
that waits between two tests, or was stopped. It is told by the process that gives out the tests, as the alarm of a
system timer; that process waits for the others with short waits, so the alarm is heard at once.
"""

from __future__ import annotations

import signal
import subprocess
from types import FrameType
from typing import Final

import pytest

STALLED_S: Final = 900
"""Longer than ``faulthandler_timeout``, and longer than any test of a usual run; not for a soak."""

_PS: Final = ("ps", "-ww", "--deselect", "--ppid", "2", "-p", "2")
_SHOWN_COLUMNS: Final = 160


class StallAlarm:
    """Rings when no test has begun or ended for ``after_s``. Owns SIGALRM while the run lasts."""

    def __init__(self, after_s: float = STALLED_S) -> None:
        self._after_s = after_s
        self._under_way: set[str] = set()

    def pytest_sessionstart(self) -> None:
        signal.signal(signal.SIGALRM, self._ring)
        self._again()

    def pytest_sessionfinish(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._under_way.add(nodeid)
        self._again()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._under_way.discard(nodeid)
        self._again()

    def _again(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, self._after_s)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        lines = [f"No test began or ended for {self._after_s:g} s.", *self._shown(), *_processes()]
        pytest.exit("\n".join(lines), returncode=3)

    def _shown(self) -> list[str]:
        return [f"under way: {nodeid}" for nodeid in sorted(self._under_way)] or ["no test was under way"]


def _processes() -> list[str]:
    """Those of this machine, without the kernel's, with what each waits for where the system tells it."""
    shown = subprocess.run(
        [*_PS, "-o", "pid,ppid,stat,etime,wchan:20,args"], capture_output=True, text=True, check=False
    )
    return [line[:_SHOWN_COLUMNS] for line in shown.stdout.splitlines()]
