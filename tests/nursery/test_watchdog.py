"""A held loop is noticed and measured; a busy one is not taken for held."""

from __future__ import annotations

import pytest
import trio

from svc.nursery import Root, Subsystem, watchdog
from svc.nursery.watchdog import LoopMeter
from tests.nursery.conftest import Running
from tests.recorded_log import RecordedLog


class Stopwatch:
    """A monotonic clock that passes when told."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


async def rounds(log: RecordedLog, *lengths_s: float) -> None:
    """Rounds of the loop in which tasks hold it for so long."""
    watch = Stopwatch()
    meter = LoopMeter(log, monotonic=watch)
    trio.lowlevel.add_instrument(meter)
    for length_s in lengths_s:
        await trio.sleep(1)  # a wait for I/O begins the next round
        watch.now_s += length_s
    await trio.sleep(1)
    trio.lowlevel.remove_instrument(meter)


async def test_a_held_loop_is_logged_with_its_length(log: RecordedLog) -> None:
    await rounds(log, 0.01, 0.731, 0.02)
    assert [(record["event"], record["took_ms"]) for record in log.records] == [("loop.blocked", 731)]


async def test_a_loop_that_is_merely_busy_is_not(log: RecordedLog) -> None:
    await rounds(log, *[0.099] * 100)
    assert log.records == []


async def test_the_limit_itself_is_logged(log: RecordedLog) -> None:
    await rounds(log, 0.125)
    assert len(log.records) == 1


async def test_under_a_mock_clock_the_watchdog_is_finished_at_once(root: Root, running: Running) -> None:
    async with running(watchdog()):
        await trio.sleep(1)
        assert root.states()["watchdog"].phase == "stopped"


@pytest.mark.wall_clock
async def test_on_the_real_clock_it_watches_until_drained(root: Root, running: Running) -> None:
    async with running(watchdog(), Subsystem(name="http", run=_serve)):
        assert root.states()["watchdog"].phase == "running"
    assert root.states()["watchdog"].phase == "stopped"


async def _serve(child: object) -> None:
    await trio.lowlevel.checkpoint()
