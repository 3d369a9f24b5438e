"""Records the stack of code that holds the event loop, while it holds it.

Theory. Code that holds the loop can't be asked, and a thread that watches would wake an idle laptop ten times a second.
So a system timer is set when a round of the loop begins and cancelled when it ends. It fires only in a round that takes
too long, and its signal handler then runs in the middle of that round, on the stack in question.

Owns the signal SIGALRM of the process while it is open, which needs the main thread. In another thread it never fires.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

FRAMES_MAX: Final = 30
"""The number of frames that are kept, innermost first."""
_OWN: Final = Path(__file__).parents[1]


class StackAlarm:
    """Call ``set`` when a round begins. Once the timer has fired, ``stack`` is the stack of that round."""

    def __init__(self, *, after_s: float) -> None:
        self._after_s = after_s
        self._is_open = False
        self.stack: tuple[str, ...] = ()

    @contextmanager
    def open(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGALRM, self._ring)
        self._is_open = True
        try:
            yield
        finally:
            self._is_open = False
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)

    def set(self) -> None:
        self.stack = ()
        if self._is_open:
            signal.setitimer(signal.ITIMER_REAL, self._after_s)

    def take_back(self) -> None:
        if self._is_open:
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        self.stack = stack_of(frame)


def stack_of(frame: FrameType | None) -> tuple[str, ...]:
    """``file:line function`` of each frame, the innermost first. No values: they may be a user's mail."""
    lines: list[str] = []
    while frame is not None and len(lines) < FRAMES_MAX:
        lines.append(place(frame, frame.f_lineno))
        frame = frame.f_back
    return tuple(lines)


def place(frame: FrameType, line: int | None) -> str:
    """The file, line and function of a frame, without the paths of this machine."""
    path = Path(frame.f_code.co_filename)
    if path.is_relative_to(_OWN):
        shown = path.relative_to(_OWN.parent)
    elif "site-packages" in path.parts:
        shown = Path(*path.parts[path.parts.index("site-packages") + 1 :])
    else:
        shown = Path(*path.parts[-2:])
    return f"{shown}:{line or 0} {frame.f_code.co_name}"
