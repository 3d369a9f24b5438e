"""A blocked event loop is noticed and measured; a busy one is not reported as blocked."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
import trio
import trio.lowlevel
import trio.testing

from svc.clock import VirtualClock, WallClock
from svc.durations import Durations
from svc.nursery import Root, Subsystem, Watchdog
from svc.nursery.stack_alarm import StackAlarm
from svc.nursery.watchdog import BLOCKED_S, LoopMeter
from tests.nursery.conftest import Running
from tests.recorded_log import RecordedLog


class Stopwatch:
    """A monotonic clock that passes when told."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


class Stalls:
    """What the meter tells beside the log."""

    def __init__(self) -> None:
        self.took_ms: list[int] = []

    def note(self, took_ms: int, stack: tuple[str, ...]) -> None:
        self.took_ms.append(took_ms)


async def rounds(log: RecordedLog, *lengths_s: float, noted: Stalls | None = None) -> None:
    """Rounds of the loop in which tasks hold it for so long."""
    watch = Stopwatch()
    alarm = StackAlarm(after_s=1.0, monotonic=watch)
    meter = LoopMeter(log, monotonic=watch, alarm=alarm, note=(noted or Stalls()).note, rounds=Durations())
    trio.lowlevel.add_instrument(meter)
    for length_s in lengths_s:
        await trio.sleep(1)  # a wait for I/O begins the next round
        watch.now_s += length_s
    await trio.sleep(1)
    trio.lowlevel.remove_instrument(meter)


async def test_a_held_loop_is_logged_with_its_length(log: RecordedLog) -> None:
    stalls = Stalls()
    await rounds(log, 0.01, 0.731, 0.02, noted=stalls)
    assert stalls.took_ms == [731]
    assert [(record["event"], record["took_ms"]) for record in log.records] == [("loop.blocked", 731)]


async def test_a_loop_that_is_merely_busy_is_not(log: RecordedLog) -> None:
    await rounds(log, *[0.099] * 100)
    assert log.records == []


async def test_the_limit_itself_is_logged(log: RecordedLog) -> None:
    await rounds(log, 0.125)
    assert len(log.records) == 1


async def test_under_a_mock_clock_the_watchdog_is_finished_at_once(root: Root, running: Running) -> None:
    async with running(Watchdog(clock=VirtualClock()).subsystem()):
        await trio.sleep(1)
        assert root.states()["watchdog"].phase == "stopped"


@pytest.mark.wall_clock
async def test_on_the_real_clock_it_watches_until_drained(root: Root, running: Running) -> None:
    async with running(Watchdog(clock=VirtualClock()).subsystem(), Subsystem(name="http", run=_serve)):
        assert root.states()["watchdog"].phase == "running"
    assert root.states()["watchdog"].phase == "stopped"


@pytest.mark.wall_clock
async def test_a_stall_is_kept_with_the_place_that_held_the_loop(root: Root, running: Running) -> None:
    watchdog = Watchdog(clock=WallClock())
    async with running(watchdog.subsystem()):
        await trio.testing.wait_all_tasks_blocked()  # the watch has begun, and a round of the loop with it
        while not (found := [one for one in watchdog.stalls if any("_hold_the_loop" in line for line in one.stack)]):
            _hold_the_loop()  # again where this machine itself stood still when the alarm rang
            await trio.lowlevel.checkpoint()
    stall = found[0]
    assert stall.took_ms >= 100
    assert all(str(Path.home()) not in line and not line.startswith("/") for line in stall.stack)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def _hold_the_loop() -> None:
    """Without a wait, and long enough for the alarm to ring in it, also where the system is late."""
    ends_at = time.perf_counter() + 3 * BLOCKED_S
    while time.perf_counter() < ends_at:
        pass


async def _serve(child: object) -> None:
    await trio.lowlevel.checkpoint()
