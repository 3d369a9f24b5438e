"""Holds a test's mock clock while something it can't see is under way.

A ``MockClock`` jumps ahead when every task sleeps, and it takes a worker thread or process for nobody at work (trio
issue 456). Every pool holds it for as long as a call is in flight. In production this is one look-up a call.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, cast

import trio


@contextmanager
def autojump_held() -> Iterator[None]:
    """While any of these blocks is open in this run, virtual time moves only when somebody moves it."""
    hold = _hold()
    hold.begin()
    try:
        yield
    finally:
        hold.end()


def time_is_virtual() -> bool:
    """True under a mock clock: what measures real time has nothing to measure."""
    return _hold().clock is not None


class _JumpingClock(Protocol):
    autojump_threshold: float


class _Hold:
    """The count of calls in flight in one run, and the threshold to restore after the last."""

    def __init__(self, clock: _JumpingClock | None) -> None:
        self.clock = clock
        self._in_flight = 0
        self._threshold_s = math.inf

    def begin(self) -> None:
        self._in_flight += 1
        if self.clock is not None and self._in_flight == 1:
            self._threshold_s = self.clock.autojump_threshold
            self.clock.autojump_threshold = math.inf

    def end(self) -> None:
        self._in_flight -= 1
        if self.clock is not None and self._in_flight == 0:
            self.clock.autojump_threshold = self._threshold_s


_HOLD: trio.lowlevel.RunVar[_Hold] = trio.lowlevel.RunVar("autojump_hold")


def _hold() -> _Hold:
    try:
        return _HOLD.get()
    except LookupError:
        clock: object = trio.lowlevel.current_clock()
        # By its attribute, not its type: production never imports trio.testing.
        hold = _Hold(cast(_JumpingClock, clock) if hasattr(clock, "autojump_threshold") else None)
        _HOLD.set(hold)
        return hold
