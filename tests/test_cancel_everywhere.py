"""The helper reaches every checkpoint, in both ways."""

from __future__ import annotations

import trio

from svc.nursery import ThreadPool
from tests.cancel_everywhere import Interrupted, cancel_everywhere


async def test_every_checkpoint_of_a_flow_is_cut_both_ways() -> None:
    reached: list[int] = []

    async def flow() -> None:
        for number in range(5):
            reached.append(number)
            await trio.sleep(1)
        reached.append(5)

    last: list[int] = []

    async def attempt(run: Interrupted) -> None:
        reached.clear()
        await run(flow)
        last.append(reached[-1])

    await cancel_everywhere(attempt)
    assert all(last.count(number) >= 2 for number in range(5))
    assert last == sorted(last)
    assert last[-1] == 5


async def test_tasks_below_the_flow_are_cut_too() -> None:
    half_done = 0

    async def attempt(run: Interrupted) -> None:
        nonlocal half_done
        steps = []

        async def below() -> None:
            steps.append("begun")
            await trio.sleep(1)
            steps.append("ended")

        async def flow() -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(below)

        await run(flow)
        half_done += steps == ["begun"]

    await cancel_everywhere(attempt)
    assert half_done >= 2


async def test_a_flow_waiting_for_a_thread_is_cut_while_it_waits(threads: ThreadPool) -> None:
    outcomes = set()

    async def attempt(run: Interrupted) -> None:
        calls: list[str] = []

        async def flow() -> None:
            await threads.run(calls.append, "ran")
            await trio.lowlevel.checkpoint()
            calls.append("went on")

        await run(flow)
        outcomes.add(tuple(calls))

    await cancel_everywhere(attempt)
    assert outcomes == {(), ("ran",), ("ran", "went on")}
