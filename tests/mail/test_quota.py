from __future__ import annotations

from collections import deque

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from svc.mail.providers.gmail.quota import COST_UNITS, WINDOW_S, QuotaLimiter
from tests.cancel_everywhere import Interrupted, cancel_everywhere
from tests.sizes import examples

ROUNDING_S = 1e-6

calls = st.lists(
    st.tuples(st.floats(0, 90), st.integers(1, 40), st.booleans()),  # when asked, units, urgent
    min_size=1,
    max_size=40,
)


@settings(max_examples=examples(60))
@given(calls=calls, reserved=st.sampled_from([0.0, 0.1, 0.5]))
async def test_no_sixty_seconds_ever_hold_more_than_the_quota(
    calls: list[tuple[float, int, bool]], reserved: float
) -> None:
    limiter = QuotaLimiter(units_per_minute=100, reserved_share=reserved)
    granted: list[tuple[float, int, bool]] = []

    async def call(at_s: float, units: int, urgent: bool) -> None:
        await trio.sleep(at_s)
        await limiter.spend(units, urgent=urgent)
        granted.append((trio.current_time(), units, urgent))

    async with trio.open_nursery() as nursery:
        for one in calls:
            nursery.start_soon(call, *one)

    assert len(granted) == len(calls)
    for start_s, _, _ in granted:
        inside = [one for one in granted if start_s <= one[0] < start_s + WINDOW_S - ROUNDING_S]
        assert sum(units for _, units, _ in inside) <= 100
        assert sum(units for _, units, urgent in inside if not urgent) <= 100 - int(100 * reserved)


@settings(max_examples=examples(40))
@given(units=st.lists(st.integers(1, 60), min_size=1, max_size=30), urgent=st.booleans())
async def test_calls_of_a_kind_are_served_in_the_order_they_came(units: list[int], urgent: bool) -> None:
    limiter = QuotaLimiter(units_per_minute=100)
    served: list[int] = []

    async def call(number: int, price: int) -> None:
        await limiter.spend(price, urgent=urgent)
        served.append(number)

    async with trio.open_nursery() as nursery:
        for number, price in enumerate(units):
            nursery.start_soon(call, number, price)
            await wait_all_tasks_blocked()

    assert served == list(range(len(units)))


async def test_the_window_slides_and_does_not_refill_at_once() -> None:
    limiter = QuotaLimiter(units_per_minute=100, reserved_share=0)
    begin_s = trio.current_time()
    await limiter.spend(60)
    await trio.sleep(30)
    await limiter.spend(40)
    assert limiter.used() == 100

    await limiter.spend(60)  # fits as soon as the first sixty are sixty seconds old
    assert trio.current_time() - begin_s == pytest.approx(60)
    await limiter.spend(1)
    assert trio.current_time() - begin_s == pytest.approx(90)


async def test_a_background_call_leaves_the_reserved_share_to_a_waiting_person() -> None:
    limiter = QuotaLimiter(units_per_minute=1_000)
    for _ in range(45):
        await limiter.spend(20)

    begin_s = trio.current_time()
    await limiter.spend(100, urgent=True)
    assert trio.current_time() == begin_s
    await limiter.spend(20)
    assert trio.current_time() - begin_s == pytest.approx(60)


async def test_what_an_urgent_call_waits_for_is_not_snatched_by_the_background() -> None:
    limiter = QuotaLimiter(units_per_minute=100, reserved_share=0.1)
    done: list[str] = []

    async def background(number: int) -> None:
        await limiter.spend(20)
        done.append(f"background {number}")

    async def urgent() -> None:
        await limiter.spend(100, urgent=True)
        done.append("urgent")

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            await limiter.spend(20)
            await trio.sleep(1)
        nursery.start_soon(urgent)
        await wait_all_tasks_blocked()
        for number in range(8):
            nursery.start_soon(background, number)

    assert done[0] == "urgent"
    assert len(done) == 9


async def test_a_cancelled_call_has_spent_nothing_and_blocks_nobody() -> None:
    limiter = QuotaLimiter(units_per_minute=100, reserved_share=0)
    await limiter.spend(100)
    with trio.move_on_after(10) as scope:
        await limiter.spend(100)
    assert scope.cancelled_caught
    with trio.move_on_after(10):
        await limiter.spend(100, urgent=True)

    await trio.sleep(40)
    assert limiter.used() == 0
    begin_s = trio.current_time()
    await limiter.spend(100)
    assert trio.current_time() == begin_s


async def test_wherever_a_call_is_cut_it_spent_all_or_nothing() -> None:
    async def attempt(run: Interrupted) -> None:
        limiter = QuotaLimiter(units_per_minute=100, reserved_share=0)
        await limiter.spend(70)
        spent: deque[int] = deque()

        async def flow() -> None:
            await limiter.spend(40)
            spent.append(40)

        await run(flow)
        assert limiter.used() in ({40} if spent else {0, 40, 70})
        with trio.fail_after(61):
            await limiter.spend(60, urgent=True)

    assert await cancel_everywhere(attempt) > 1


async def test_a_pause_holds_back_everybody_and_the_longer_one_stands() -> None:
    limiter = QuotaLimiter()
    begin_s = trio.current_time()
    limiter.pause(30)
    limiter.pause(5)
    await limiter.spend(1, urgent=True)
    assert trio.current_time() - begin_s == pytest.approx(30)


async def test_a_pause_that_comes_while_a_call_waits_holds_it_back_too() -> None:
    limiter = QuotaLimiter(units_per_minute=100, reserved_share=0)
    await limiter.spend(100)
    begin_s = trio.current_time()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(limiter.spend, 10)
        await trio.sleep(50)
        limiter.pause(100)
    assert trio.current_time() - begin_s == pytest.approx(150)


async def test_a_call_that_can_never_be_paid_is_a_bug_not_a_wait() -> None:
    limiter = QuotaLimiter(units_per_minute=100)
    with pytest.raises(ValueError, match="never"):
        await limiter.spend(91)
    with pytest.raises(ValueError, match="never"):
        await limiter.spend(101, urgent=True)


@pytest.mark.parametrize(("units", "share"), [(0, 0.1), (100, 1.0), (100, -0.1)])
def test_a_quota_of_nothing_is_refused(units: int, share: float) -> None:
    with pytest.raises(ValueError, match="no quota"):
        QuotaLimiter(units_per_minute=units, reserved_share=share)


def test_the_smallest_quota_that_can_be_set_affords_every_call() -> None:
    assert max(COST_UNITS.values()) <= 100


async def test_ten_minutes_of_a_backfill_use_nearly_all_of_the_background_share() -> None:
    limiter = QuotaLimiter()
    fetched = 0
    with trio.move_on_after(600):
        while True:
            await limiter.spend(COST_UNITS["messages.get"])
            fetched += 1
    assert 10 * 270 <= fetched <= 11 * 270
