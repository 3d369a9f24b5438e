"""Notices when something held the event loop: no other task ran, no answer was sent.

Owns the only reading of a real monotonic clock in the service, and the last stalls with their stacks. It measures the
time between two waits for I/O. A round costs two clock readings, and where rounds are far apart two settings of a
timer; the end of a busy time costs one wake-up (``stack_alarm.py``).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import trio
from trio.abc import Instrument

from svc.clock import Clock, Millis
from svc.durations import Durations
from svc.log import Log
from svc.nursery.autojump import time_is_virtual
from svc.nursery.stack_alarm import StackAlarm
from svc.nursery.subsystem import Child, Subsystem

BLOCKED_S: Final = 0.100
"""A round of the loop that takes this long is logged, so there are at most ten lines a second."""
STALLS_KEPT: Final = 50


@dataclass(frozen=True, kw_only=True)
class Stall:
    """Something held the loop: when it ended, how long it took, and the stack after the first 100 ms of it."""

    at: Millis
    took_ms: int
    stack: tuple[str, ...]


class Watchdog:
    """The last stalls of this run, the newest last, and how long all rounds of the loop took."""

    def __init__(self, *, clock: Clock) -> None:
        self.stalls: deque[Stall] = deque(maxlen=STALLS_KEPT)
        self.rounds = Durations()
        self._clock = clock

    def subsystem(self) -> Subsystem:
        """The watchdog of the loop that it runs on. Under a mock clock it returns at once."""
        return Subsystem(name="watchdog", run=self._watch, independent=True, drain_s=0.0)

    def note(self, took_ms: int, stack: tuple[str, ...]) -> None:
        self.stalls.append(Stall(at=self._clock.now(), took_ms=took_ms, stack=stack))

    async def _watch(self, child: Child) -> None:
        child.started()
        if time_is_virtual():
            return
        monotonic = time.perf_counter
        alarm = StackAlarm(after_s=BLOCKED_S, monotonic=monotonic)
        meter = LoopMeter(child.log, monotonic=monotonic, alarm=alarm, note=self.note, rounds=self.rounds)
        with alarm.open():
            trio.lowlevel.add_instrument(meter)
            try:
                await trio.sleep_forever()
            finally:
                trio.lowlevel.remove_instrument(meter)


class LoopMeter(Instrument):
    """Times each round of the loop, between two waits for I/O, by ``monotonic`` (in seconds)."""

    def __init__(
        self,
        log: Log,
        *,
        monotonic: Callable[[], float],
        alarm: StackAlarm,
        note: Callable[[int, tuple[str, ...]], None],
        rounds: Durations,
    ) -> None:
        self._log = log
        self._monotonic = monotonic
        self._alarm = alarm
        self._note = note
        self._rounds = rounds
        self._round_began_s: float | None = None

    def after_io_wait(self, timeout: float) -> None:
        self._round_began_s = self._monotonic()
        self._alarm.set(self._round_began_s)

    def before_io_wait(self, timeout: float) -> None:
        now_s = self._monotonic()
        self._alarm.take_back(now_s)
        if self._round_began_s is not None:
            took_s = now_s - self._round_began_s
            self._rounds.add(took_s)
            if took_s >= BLOCKED_S:
                took_ms = round(took_s * 1_000)
                self._log.warning("loop.blocked", took_ms=took_ms, where=first_own(self._alarm.stack))
                self._note(took_ms, self._alarm.stack)


def first_own(stack: tuple[str, ...]) -> str:
    """The innermost place in the service's own code: for the one line of the log."""
    return next((line for line in stack if line.startswith("svc/")), stack[0] if stack else "")
