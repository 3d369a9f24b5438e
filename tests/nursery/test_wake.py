"""A loop that looks for work waits for a call or for a time, and misses no call."""

from __future__ import annotations

import trio

from svc.nursery import Wake


async def test_a_call_ends_the_wait() -> None:
    wake = Wake()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wake.wait)
        await trio.testing.wait_all_tasks_blocked()
        wake.call()


async def test_the_time_ends_it_too() -> None:
    started_s = trio.current_time()
    await Wake().wait(at_most_s=60)
    assert trio.current_time() == started_s + 60


async def test_a_call_while_nobody_waits_is_kept_for_the_next_wait_and_for_no_other() -> None:
    wake = Wake()
    wake.call()
    started_s = trio.current_time()
    await wake.wait(at_most_s=60)
    assert trio.current_time() == started_s
    await wake.wait(at_most_s=60)
    assert trio.current_time() == started_s + 60
