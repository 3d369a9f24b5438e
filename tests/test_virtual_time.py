"""Virtual time is there without asking, and can't go missing without a word."""

from __future__ import annotations

import time

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from svc.clock import DAY_MS, VirtualClock
from svc.nursery import ThreadPool, every
from tests.sizes import HANGS_S
from tests.virtual_time import clock_for

DAY_S = 86_400


@pytest.fixture
async def slept() -> float:
    began = trio.current_time()
    await trio.sleep(DAY_S)
    return trio.current_time() - began


@pytest.fixture
def derived(clock: MockClock, slept: float) -> float:
    """Built on an asynchronous fixture, so pytest-trio makes it one too."""
    return slept


async def test_a_day_passes_in_no_time() -> None:
    assert isinstance(trio.lowlevel.current_clock(), MockClock)
    began = time.perf_counter()
    await trio.sleep(DAY_S)
    assert time.perf_counter() - began < HANGS_S


async def test_a_fixture_does_not_hide_the_clock(slept: float, derived: float) -> None:
    assert isinstance(trio.lowlevel.current_clock(), MockClock)
    assert slept == derived == DAY_S


async def test_the_clock_fixture_is_the_clock_of_the_run(clock: MockClock) -> None:
    assert trio.lowlevel.current_clock() is clock
    before = trio.current_time()
    clock.jump(5)
    assert trio.current_time() == before + 5


async def test_the_wall_follows_the_clock(wall: VirtualClock) -> None:
    before = wall.now()
    await trio.sleep(DAY_S)
    assert wall.now() - before == DAY_MS


@given(days=st.integers(min_value=1, max_value=1_000))
@settings(max_examples=5)
async def test_a_property_test_runs_on_virtual_time_too(days: int) -> None:
    assert isinstance(trio.lowlevel.current_clock(), MockClock)
    await trio.sleep(days * DAY_S)
    assert trio.current_time() == days * DAY_S


@pytest.mark.wall_clock
async def test_a_marked_test_runs_on_real_time() -> None:
    assert isinstance(trio.lowlevel.current_clock(), trio._core._run.SystemClock)


@pytest.mark.wall_clock
@given(number=st.integers())
@settings(max_examples=2)
async def test_a_marked_property_test_runs_on_real_time(number: int) -> None:
    assert isinstance(trio.lowlevel.current_clock(), trio._core._run.SystemClock)


def test_a_clock_that_is_hidden_or_missing_fails_the_test() -> None:
    for hidden in (object(), None):
        with pytest.raises(pytest.fail.Exception, match="must be a MockClock"):
            clock_for(real=False, fixtures={"clock": hidden})


def test_a_mock_clock_in_a_test_on_real_time_fails_it() -> None:
    with pytest.raises(pytest.fail.Exception, match="no mock clock"):
        clock_for(real=True, fixtures={"clock": MockClock()})


async def test_a_day_of_polls_with_thread_calls_keeps_its_times(threads: ThreadPool) -> None:
    seen: list[float] = []

    async def poll() -> None:
        before = trio.current_time()
        await threads.run(time.perf_counter)
        assert trio.current_time() == before
        seen.append(before)

    with trio.move_on_after(3_600):
        await every(30, poll)
    assert seen == [30.0 * turn for turn in range(120)]
