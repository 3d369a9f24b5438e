"""Fixed schedules and growing pauses."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from svc.nursery import Backoff, every


async def ticks(*, interval_s: float, for_s: float, steps_s: list[float], at_once: bool = True) -> list[float]:
    """When each step began, if they take ``steps_s`` in turn (and nothing after that)."""
    began: list[float] = []

    async def step() -> None:
        began.append(trio.current_time())
        await trio.sleep(steps_s.pop(0) if steps_s else 0)

    with trio.move_on_after(for_s):
        await every(interval_s, step, at_once=at_once)
    return began


async def test_the_first_step_is_taken_at_once() -> None:
    assert await ticks(interval_s=30, for_s=100, steps_s=[]) == [0, 30, 60, 90]


async def test_or_after_the_first_interval() -> None:
    assert await ticks(interval_s=30, for_s=100, steps_s=[], at_once=False) == [30, 60, 90]


async def test_a_step_does_not_shift_the_schedule() -> None:
    assert await ticks(interval_s=30, for_s=100, steps_s=[7, 1, 29]) == [0, 30, 60, 90]


async def test_steps_that_a_long_one_overran_are_dropped() -> None:
    assert await ticks(interval_s=30, for_s=200, steps_s=[95]) == [0, 120, 150, 180]


async def test_a_jump_of_eight_hours_is_followed_by_one_step() -> None:
    assert await ticks(interval_s=30, for_s=8 * 3600 + 100, steps_s=[8 * 3600]) == [0, 28830, 28860, 28890]


async def test_what_a_step_raises_ends_it() -> None:
    async def step() -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        await every(30, step)


@pytest.mark.parametrize("interval_s", [0, -1, float("inf"), float("nan")])
async def test_an_interval_must_be_positive(interval_s: float) -> None:
    with pytest.raises(ValueError, match="positive number"):
        await every(interval_s, trio.lowlevel.checkpoint)


@given(
    interval_s=st.floats(min_value=0.01, max_value=100),
    steps=st.lists(st.floats(min_value=0, max_value=5), max_size=30),
)
async def test_no_step_comes_early_or_twice_whatever_the_rounding(interval_s: float, steps: list[float]) -> None:
    began = await ticks(interval_s=interval_s, for_s=interval_s * 60, steps_s=[step * interval_s for step in steps])
    turns = [at / interval_s for at in began]
    assert all(abs(turn - round(turn)) < 1e-6 for turn in turns)
    assert all(round(after) > round(before) for before, after in pairwise(turns))


def test_pauses_are_drawn_from_a_doubling_range_up_to_the_cap() -> None:
    longest = [0.0] * 12
    for seed in range(300):
        backoff = Backoff(rng=random.Random(seed), first_s=1, cap_s=60)
        for index in range(12):
            longest[index] = max(longest[index], backoff.next_s())
    for index, ceiling in enumerate([1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60]):
        assert 0.9 * ceiling < longest[index] <= ceiling


def test_a_reset_begins_anew() -> None:
    backoff = Backoff(rng=random.Random(1), first_s=1, cap_s=60)
    for _ in range(2_000):  # far beyond what two to that power could hold
        backoff.next_s()
    backoff.reset()
    assert backoff.next_s() <= 1


def test_the_same_seed_gives_the_same_pauses() -> None:
    first, second = (Backoff(rng=random.Random(5)) for _ in range(2))
    assert [first.next_s() for _ in range(9)] == [second.next_s() for _ in range(9)]


@pytest.mark.parametrize(("first_s", "cap_s"), [(0, 1), (2, 1), (-1, 1)])
def test_a_range_that_makes_no_sense_is_refused(first_s: float, cap_s: float) -> None:
    with pytest.raises(ValueError, match="first_s"):
        Backoff(rng=random.Random(1), first_s=first_s, cap_s=cap_s)
