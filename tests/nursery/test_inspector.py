"""The tree of tasks as people see it: who runs under whom, where each waits, and since when."""

from __future__ import annotations

import inspect

import trio

from svc.nursery import Inspector, Root, Wake
from svc.nursery.inspector import ALIKE_SHOWN, LOOKED_AT_S, ROWS_MAX, TreeRow
from svc.nursery.samples import SAMPLE_S, TASKS_AT_ONCE, Samples
from tests.nursery.conftest import Running


async def waits_at_a_wake(wake: Wake) -> None:
    await wake.wait()


async def opens_three() -> None:
    async with trio.open_nursery() as outer, trio.open_nursery(), trio.open_nursery() as inner:
        outer.start_soon(trio.sleep_forever, name="deep")
        inner.start_soon(trio.sleep_forever, name="deeper")
        inner.start_soon(trio.sleep_forever, name="deeper")
        await trio.sleep_forever()


def named(rows: list[TreeRow], name: str) -> list[TreeRow]:
    return [row for row in rows if row.name == name]


async def test_a_task_stands_below_its_own_with_where_it_waits_and_what_for() -> None:
    inspector, wake = Inspector(), Wake()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits_at_a_wake, wake, name="svc.waiter")
        await trio.testing.wait_all_tasks_blocked()
        rows, cut = inspector.look()
        assert not cut
        (waiter,) = named(list(rows), "waiter")
        (mine,) = [
            row for row in rows if "look" in row.waits_in or row.name.endswith(trio.lowlevel.current_task().name)
        ]
        assert waiter.depth > mine.depth
        assert waiter.waits_in.startswith("svc/nursery/wake.py:")
        assert waiter.waits_in.endswith(" wait")
        assert waiter.waits_for
        nursery.cancel_scope.cancel()


async def test_of_a_task_with_several_nurseries_each_that_has_tasks_is_a_row() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(opens_three, name="three")
        await trio.testing.wait_all_tasks_blocked()
        rows = list(Inspector().look()[0])
        (three,) = named(rows, "three")
        below = rows[rows.index(three) + 1 :][:5]
        assert [(row.kind, row.name, row.count, row.depth - three.depth) for row in below] == [
            ("nursery", "nursery", 1, 1),
            ("task", "deep", 1, 2),
            ("nursery", "nursery", 2, 1),
            ("task", "deeper", 1, 2),
            ("task", "deeper", 1, 2),
        ]
        nursery.cancel_scope.cancel()


async def test_how_long_it_waits_is_known_to_the_millisecond_from_the_first_look_on() -> None:
    inspector, wake = Inspector(), Wake()

    def waiter(name: str) -> tuple[float | None, bool]:
        (row,) = named(list(inspector.look()[0]), name)
        return row.seconds, row.at_least

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits_at_a_wake, wake, name="waiter")
        await trio.testing.wait_all_tasks_blocked()
        assert waiter("waiter") == (0, True)
        nursery.start_soon(waits_at_a_wake, Wake(), name="later")
        await trio.sleep(7)
        assert waiter("later") == (7, False)
        nursery.cancel_scope.cancel()


async def test_at_least_how_long_it_waits_is_known_at_the_first_look() -> None:
    inspector, wake = Inspector(), Wake()

    async def moves() -> None:
        while True:
            await wake.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits_at_a_wake, Wake(), name="waiter")
        nursery.start_soon(moves, name="moves")
        await trio.testing.wait_all_tasks_blocked()
        await inspector.samples.take()
        await trio.sleep(SAMPLE_S)
        wake.call()
        nursery.start_soon(waits_at_a_wake, Wake(), name="new")
        await trio.testing.wait_all_tasks_blocked()
        await inspector.samples.take()
        await trio.sleep(3)
        wake.call()
        await trio.testing.wait_all_tasks_blocked()
        rows = list(inspector.look()[0])
        told = {name: [(row.seconds, row.at_least) for row in named(rows, name)] for name in ("waiter", "new", "moves")}
        assert told == {"waiter": [(SAMPLE_S + 3, True)], "new": [(3, True)], "moves": [(0, True)]}
        assert all(row.seconds is not None for row in rows if row.kind == "task")
        nursery.cancel_scope.cancel()


async def test_it_samples_again_and_again_but_not_in_virtual_time(root: Root, running: Running) -> None:
    inspector = Inspector()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(inspector.samples.keep)
        nursery.start_soon(waits_at_a_wake, Wake(), name="waiter")
        await trio.sleep(5 * SAMPLE_S)
        (row,) = named(list(inspector.look()[0]), "waiter")
        assert row.seconds is not None
        assert row.seconds >= 4 * SAMPLE_S
        nursery.cancel_scope.cancel()
    async with running(inspector.subsystem()):
        await trio.testing.wait_all_tasks_blocked()
        assert root.states()["inspector"].phase == "stopped"


async def test_other_tasks_run_while_many_are_sampled() -> None:
    samples = Samples()
    async with trio.open_nursery() as nursery:
        for _ in range(5 * TASKS_AT_ONCE):
            nursery.start_soon(trio.sleep_forever)
        await trio.testing.wait_all_tasks_blocked()
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                await trio.lowlevel.checkpoint()
                turns += 1

        nursery.start_soon(other)
        await samples.take()
        assert turns >= 3
        nursery.cancel_scope.cancel()


async def test_a_task_that_ended_is_in_no_sample() -> None:
    samples = Samples()
    async with trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(trio.sleep_forever)
        await trio.testing.wait_all_tasks_blocked()
        await samples.take()
        many = samples.count
        nursery.cancel_scope.cancel()
    await samples.take()
    assert many - samples.count == 100


async def test_where_nobody_looks_any_more_no_step_is_noted() -> None:
    inspector = Inspector()
    inspector.look()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits_at_a_wake, Wake(), name="waiter")
        await trio.sleep(LOOKED_AT_S + 1)
        await trio.sleep(1)  # a round of the loop ends it
        (row,) = named(list(inspector.look()[0]), "waiter")
        assert (row.seconds, row.at_least) == (0, True)
        nursery.cancel_scope.cancel()


async def test_many_alike_are_counted_and_those_that_wait_longest_shown() -> None:
    inspector = Inspector()
    inspector.look()
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(waits_at_a_wake, Wake(), name="alike")
        await trio.sleep(5)
        for _ in range(20):
            nursery.start_soon(waits_at_a_wake, Wake(), name="alike")
        await trio.sleep(1)
        rows = named(list(inspector.look()[0]), "alike")
        assert [row.kind for row in rows] == ["task"] * ALIKE_SHOWN + ["more"]
        assert rows[-1].count == 23 - ALIKE_SHOWN
        assert [row.seconds for row in rows[:4]] == [6, 6, 6, 1]
        nursery.cancel_scope.cancel()


async def test_a_tree_that_is_too_large_is_cut_and_says_so() -> None:
    async with trio.open_nursery() as nursery:
        for number in range(ROWS_MAX):
            nursery.start_soon(trio.sleep_forever, name=f"task {number}")
        await trio.testing.wait_all_tasks_blocked()
        rows, cut = Inspector().look()
        assert (len(rows), cut) == (ROWS_MAX, True)
        nursery.cancel_scope.cancel()


def test_no_value_of_a_frame_is_read() -> None:
    """What a task holds may be somebody's mail."""
    from svc.nursery import inspector, samples, stack_alarm

    for module in (inspector, samples, stack_alarm):
        assert "f_locals" not in inspect.getsource(module)
