"""Notices when something held the event loop: no other task ran, no answer was sent.

Owns the one reading of a real monotonic clock in the service. It measures between two waits for I/O, so it costs two
clock readings a round of the loop, not a wake-up; it says how long, the access log of that moment says who.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import trio
from trio.abc import Instrument

from svc.log import Log
from svc.nursery.autojump import time_is_virtual
from svc.nursery.subsystem import Child, Subsystem

BLOCKED_S: Final = 0.100
"""From here on a round of the loop is logged; ten lines a second are therefore the most there can be."""


def watchdog() -> Subsystem:
    """Watches the loop it runs on. Under a mock clock it is finished at once."""
    return Subsystem(name="watchdog", run=_watch, independent=True, drain_s=0.0)


class LoopMeter(Instrument):
    """Times each round of the loop from one wait for I/O to the next, by ``monotonic`` (in seconds)."""

    def __init__(self, log: Log, *, monotonic: Callable[[], float]) -> None:
        self._log = log
        self._monotonic = monotonic
        self._round_began_s: float | None = None

    def after_io_wait(self, timeout: float) -> None:
        self._round_began_s = self._monotonic()

    def before_io_wait(self, timeout: float) -> None:
        if self._round_began_s is not None:
            took_s = self._monotonic() - self._round_began_s
            if took_s >= BLOCKED_S:
                self._log.warning("loop.blocked", took_ms=round(took_s * 1_000))


async def _watch(child: Child) -> None:
    child.started()
    if time_is_virtual():
        return
    meter = LoopMeter(child.log, monotonic=time.perf_counter)
    trio.lowlevel.add_instrument(meter)
    try:
        await trio.sleep_forever()
    finally:
        trio.lowlevel.remove_instrument(meter)
