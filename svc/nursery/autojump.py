"""Holds a test's mock clock while something runs that the clock can't see.

A ``MockClock`` jumps ahead when every task sleeps. A worker thread or process looks to it like nothing at work (trio
issue 456), so every pool holds the clock for as long as a call is in flight. In production this costs one look-up per
call.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, cast

import trio


@contextmanager
def autojump_held() -> Iterator[None]:
    """While any of these blocks is open in this run, virtual time moves only when a test moves it."""
    hold = _hold()
    hold.begin()
    try:
        yield
    finally:
        hold.end()


def time_is_virtual() -> bool:
    """True under a mock clock, when measuring real time makes no sense."""
    return _hold().clock is not None


class _JumpingClock(Protocol):
    autojump_threshold: float


class _Hold:
    """The number of calls in flight in one run, and the threshold to restore after the last one."""

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
        # Recognized by its attribute, not its type: production never imports trio.testing.
        hold = _Hold(cast(_JumpingClock, clock) if hasattr(clock, "autojump_threshold") else None)
        _HOLD.set(hold)
        return hold
