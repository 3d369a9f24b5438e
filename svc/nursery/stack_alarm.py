"""Records the stack of code that holds the event loop, while it holds it.

Theory. Code that holds the loop can't be asked, and a thread that watches would wake an idle laptop ten times a second.
So a system timer is set when a round of the loop begins, and cancelled when it ends. In a round that takes too long it
fires, and its signal handler then runs in the middle of that round, on the stack in question.

To set and cancel it is a system call each, and while mail comes in there are thousands of rounds a second. So while
rounds follow each other closely the timer is not cancelled: where it fires too early for the round under way it is set
again for the rest of that one, and between two rounds it does nothing. When the loop comes to rest it fires once more.

Owns the signal SIGALRM of the process while it is open, which needs the main thread. In another thread it never fires.
"""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

FRAMES_MAX: Final = 30
"""The number of frames that are kept, innermost first."""
CLOSE_S: Final = 0.005
"""A wait for I/O that is shorter lies between two close rounds."""
MANY_CLOSE: Final = 20
"""From so many close rounds in a row on the timer runs on: fewer are a moment's work of an idle service."""
_SOONEST_S: Final = 0.001  # a timer that is set again in its handler must not fire before that has ended
_OWN: Final = Path(__file__).parents[1]


class StackAlarm:
    """Call ``set`` when a round begins and ``take_back`` when it ends, with the time by ``monotonic`` (in seconds). In
    a round of ``after_s`` and more, ``stack`` is its stack then."""

    def __init__(self, *, after_s: float, monotonic: Callable[[], float]) -> None:
        self.stack: tuple[str, ...] = ()
        self._after_s = after_s
        self._monotonic = monotonic
        self._is_open = False
        self._is_set = False
        self._began_s: float | None = None
        self._ended_s = -math.inf
        self._close_rounds = 0

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
            self._cancel()
            signal.signal(signal.SIGALRM, before)

    def set(self, now_s: float) -> None:
        self.stack = ()
        self._began_s = now_s
        self._close_rounds = self._close_rounds + 1 if now_s - self._ended_s < CLOSE_S else 0
        if self._is_open and not self._is_set:
            self._ring_in(self._after_s)

    def take_back(self, now_s: float) -> None:
        self._began_s = None
        self._ended_s = now_s
        if self._is_set and self._close_rounds < MANY_CLOSE:
            self._cancel()

    def _ring_in(self, seconds: float) -> None:
        self._is_set = True
        signal.setitimer(signal.ITIMER_REAL, max(seconds, _SOONEST_S))

    def _cancel(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        self._is_set = False

    def _ring(self, number: int, frame: FrameType | None) -> None:
        self._is_set = False
        if self._began_s is None or not self._is_open:
            return
        left_s = self._began_s + self._after_s - self._monotonic()
        if left_s > 0.0:
            self._ring_in(left_s)
        else:
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
