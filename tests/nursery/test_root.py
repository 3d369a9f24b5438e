"""Starting in order, draining in reverse, adding and removing while running."""

from __future__ import annotations

import random

import pytest
import trio

from svc.errors import Unavailable
from svc.nursery import Child, Root, Subsystem
from tests.cancel_everywhere import Interrupted, cancel_everywhere
from tests.nursery.conftest import Diary, Running
from tests.recorded_log import RecordedLog

# Starting


async def test_each_subsystem_starts_once_the_one_before_it_serves(running: Running, diary: Diary) -> None:
    async with running(diary.plain("store", start_s=3), diary.plain("mail", start_s=1), diary.plain("http")):
        assert diary.entries == ["store serves", "mail serves", "http serves"]
        assert trio.current_time() == 4


async def test_a_slow_start_shows_as_starting(root: Root, diary: Diary) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(root.run, [diary.plain("store", start_s=3)])
        await trio.sleep(1)
        assert root.states()["store"].phase == "starting"
        assert not root.started.is_set()
        await trio.sleep(3)
        assert root.started.is_set()
        assert root.states()["store"].phase == "running"
        root.drain("test over")


async def test_one_that_crashes_before_it_serves_does_not_hold_up_the_next(
    root: Root, running: Running, diary: Diary
) -> None:
    async def run(child: Child) -> None:
        raise OSError("nobody answers")

    async with running(Subsystem(name="gitops", run=run), diary.plain("http")):
        assert diary.entries == ["http serves"]
        assert root.states()["gitops"].phase == "restarting"
        assert root.states()["gitops"].last_error == "OSError: nobody answers"


async def test_two_subsystems_of_one_name_are_a_bug(root: Root, diary: Diary) -> None:
    with pytest.raises(ValueError, match="'http' is running"):
        await root.run([diary.plain("http"), diary.plain("http")])


async def test_a_return_is_an_end_for_good(root: Root, running: Running) -> None:
    async def run(child: Child) -> None:
        child.started()

    async with running(Subsystem(name="seed", run=run)):
        await trio.sleep(3_600)
        assert root.states()["seed"].phase == "stopped"
        assert root.states()["seed"].restarts == 0


# Draining


async def test_the_last_to_start_is_the_first_to_end(running: Running, diary: Diary) -> None:
    async with running(diary.plain("store"), diary.plain("mail"), diary.plain("http")):
        diary.entries.clear()
    assert diary.entries == ["http ends", "mail ends", "store ends"]


async def test_nobody_ends_before_those_after_it_have_finished_their_work(running: Running, diary: Diary) -> None:
    async with running(diary.plain("store"), diary.working("http", work_s=4)):
        diary.entries.clear()
    assert diary.entries == ["http finished at 4", "store ends"]


async def test_work_is_cut_off_at_its_deadline(running: Running, diary: Diary) -> None:
    async with running(diary.plain("store"), diary.working("http", work_s=1_000, drain_s=30)):
        await trio.sleep(100)
    assert diary.entries[-2:] == ["http cut off at 130", "store ends"]


async def test_work_without_an_end_of_its_own_hears_of_the_drain(running: Running) -> None:
    heard: list[tuple[bool, bool, float]] = []

    async def connection(child: Child) -> None:
        draining_before = child.draining
        await child.wait_draining()
        heard.append((draining_before, child.draining, trio.current_time()))

    async def run(child: Child) -> None:
        child.work.start_soon(connection, child)
        child.started()
        await trio.sleep_forever()

    async with running(Subsystem(name="http", run=run)):
        await trio.sleep(10)
    assert heard == [(False, True, 10)]
    assert trio.current_time() == 10


async def test_a_second_drain_cuts_every_deadline_short_and_keeps_the_order(
    root: Root, running: Running, diary: Diary
) -> None:
    async with running(diary.plain("store"), diary.working("mail", work_s=99), diary.working("http", work_s=99)):
        diary.entries.clear()
        root.drain("SIGTERM")
        await trio.sleep(2)
        root.drain("SIGTERM")
        root.drain("SIGTERM")
    assert diary.entries == ["http cut off at 2", "mail cut off at 2", "store ends"]


async def test_independent_neighbours_drain_together(running: Running, diary: Diary) -> None:
    accounts = [diary.working(f"mail:{number}", work_s=99, independent=True) for number in range(200)]
    async with running(diary.plain("store"), *accounts, diary.plain("http")):
        diary.entries.clear()
    assert trio.current_time() == 5
    assert diary.entries[0] == "http ends"
    assert diary.entries[-1] == "store ends"
    assert len(diary.entries) == 202


async def test_a_drain_during_the_start_ends_what_has_started_and_starts_no_more(root: Root, diary: Diary) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(root.run, [diary.plain("store"), diary.plain("mail", start_s=60), diary.plain("http")])
        await trio.sleep(1)
        root.drain("SIGTERM")
    assert diary.entries == ["store serves", "mail ends", "store ends"]
    assert trio.current_time() == 1


async def test_a_drain_before_the_start_starts_nothing(root: Root, diary: Diary) -> None:
    root.drain("SIGTERM")
    await root.run([diary.plain("store")])
    assert diary.entries == []


async def test_one_that_is_ready_too_late_still_counts_as_draining(root: Root, running: Running) -> None:
    async def run(child: Child) -> None:
        child.work.start_soon(get_ready, child)
        child.started()
        await trio.sleep_forever()

    async def get_ready(child: Child) -> None:
        await trio.sleep(2)
        child.started()
        await trio.sleep(2)

    async with running(Subsystem(name="http", run=run)), trio.open_nursery() as nursery:
        nursery.start_soon(root.remove, "http")
        await trio.sleep(3)
        assert root.states()["http"].phase == "draining"


async def test_a_run_that_refuses_its_cancellation_is_left_at_the_deadline(running: Running) -> None:
    async def run(child: Child) -> None:
        child.started()
        try:
            await trio.sleep_forever()
        finally:
            with trio.move_on_after(3, shield=True):
                await trio.sleep_forever()

    async with running(Subsystem(name="store", run=run, drain_s=1)):
        pass
    assert trio.current_time() == 3


async def test_the_log_tells_of_the_drain(root: Root, running: Running, log: RecordedLog) -> None:
    async with running():
        root.drain("SIGTERM")
        root.drain("SIGINT")
    assert log.events() == ["drain.begun", "drain.cut_short", "drain.ended"]
    assert log.records[0]["reason"] == "SIGTERM"


# Adding and removing


async def test_add_returns_when_the_subsystem_serves(root: Root, running: Running, diary: Diary) -> None:
    async with running(diary.plain("http")):
        await root.add(diary.plain("mail:a", start_s=7))
        assert trio.current_time() == 7
        assert root.states()["mail:a"].phase == "running"


async def test_add_returns_when_the_subsystem_crashed_first(root: Root, running: Running) -> None:
    async def run(child: Child) -> None:
        await trio.sleep(2)
        raise RuntimeError("no")

    async with running():
        await root.add(Subsystem(name="mail:a", run=run))
        assert trio.current_time() == 2
        assert root.states()["mail:a"].phase == "restarting"


async def test_remove_drains_that_subsystem_alone(root: Root, running: Running, diary: Diary) -> None:
    async with running(diary.plain("http")):
        await root.add(diary.working("mail:a", work_s=3))
        await root.add(diary.plain("mail:b"))
        diary.entries.clear()
        await root.remove("mail:a")
        assert diary.entries == ["mail:a finished at 3"]
        assert list(root.states()) == ["http", "mail:b"]


async def test_remove_does_not_wait_for_a_restart(root: Root, running: Running) -> None:
    async def run(child: Child) -> None:
        raise RuntimeError("no")

    async with running():
        await root.add(Subsystem(name="mail:a", run=run))
        before = trio.current_time()
        await root.remove("mail:a")
        assert trio.current_time() == before
        assert root.states() == {}


async def test_removing_what_is_not_there_is_done_at_once(root: Root, running: Running) -> None:
    async with running():
        await root.remove("mail:a")


async def test_a_removed_name_can_be_added_again(root: Root, running: Running, diary: Diary) -> None:
    async with running():
        for _ in range(3):
            await root.add(diary.plain("mail:a"))
            await root.remove("mail:a")
        assert diary.entries == ["mail:a serves", "mail:a ends"] * 3


async def test_a_name_whose_subsystem_has_finished_can_be_added_again(
    root: Root, running: Running, diary: Diary
) -> None:
    async def run(child: Child) -> None:
        child.started()

    async with running(Subsystem(name="mail:a", run=run), diary.plain("http")):
        await root.add(diary.plain("mail:a"))
        assert root.states()["mail:a"].phase == "running"
        diary.entries.clear()
    assert diary.entries == ["mail:a ends", "http ends"]  # it is the last to have started now


async def test_a_name_in_use_is_refused_and_the_one_that_runs_unharmed(
    root: Root, running: Running, diary: Diary
) -> None:
    async with running(diary.plain("http"), diary.plain("mail:a")):
        with pytest.raises(ValueError, match="'mail:a' is running"):
            await root.add(diary.plain("mail:a"))
        assert list(root.states()) == ["http", "mail:a"]
        assert root.states()["mail:a"].phase == "running"


async def test_nothing_is_added_while_draining_or_before_running(root: Root, running: Running, diary: Diary) -> None:
    with pytest.raises(Unavailable):
        await root.add(diary.plain("mail:a"))
    async with running():
        root.drain("SIGTERM")
        with pytest.raises(Unavailable):
            await root.add(diary.plain("mail:a"))
    with pytest.raises(Unavailable):
        await root.add(diary.plain("mail:a"))


async def test_a_removal_under_way_and_the_drain_do_not_disturb_each_other(
    root: Root, running: Running, diary: Diary
) -> None:
    async with running(diary.working("mail:a", work_s=4)), trio.open_nursery() as nursery:
        nursery.start_soon(root.remove, "mail:a")
        await trio.sleep(1)
        root.drain("SIGTERM")
    assert diary.entries == ["mail:a finished at 4"]


# Everything at once


@pytest.mark.thorough
async def test_two_hundred_accounts_start_crash_and_drain_without_a_leak(
    root: Root, running: Running, log: RecordedLog
) -> None:
    steps: list[int] = []
    rng = random.Random(3)

    async def run(child: Child) -> None:
        child.started()
        while True:
            await trio.sleep(30)
            steps.append(1)
            if rng.random() < 0.02:
                raise RuntimeError(child.name)

    async with running():
        for number in range(200):
            await root.add(Subsystem(name=f"mail:{number}", run=run))
        await trio.sleep(3_610)  # no step is due in this moment
        assert sum(state.restarts for state in root.states().values()) > 100
    assert len(steps) > 200 * 100
    assert {state.phase for state in root.states().values()} == {"stopped"}
    assert set(log.events("error")) == {"subsystem.crashed"}


async def test_a_run_cancelled_anywhere_leaves_nothing_behind(log: RecordedLog) -> None:
    async def attempt(run: Interrupted) -> None:
        diary = Diary()
        root = Root(log=log, rng=random.Random(7))

        async def flow() -> None:
            async with trio.open_nursery() as nursery:
                await nursery.start(root.run, [diary.plain("store"), diary.working("http", work_s=2)])
                await root.add(diary.plain("mail:a"))
                await root.remove("mail:a")
                root.drain("SIGTERM")

        before = trio.lowlevel.current_statistics().tasks_living
        await run(flow)
        assert trio.lowlevel.current_statistics().tasks_living == before
        assert diary.entries.count("store serves") <= diary.entries.count("store ends")
        assert all(state.phase in {"stopped", "draining", "running", "starting"} for state in root.states().values())

    assert await cancel_everywhere(attempt) > 20


async def test_an_adder_or_remover_cancelled_anywhere_harms_nobody(log: RecordedLog) -> None:
    async def attempt(run: Interrupted) -> None:
        diary = Diary()
        root = Root(log=log, rng=random.Random(7))
        async with trio.open_nursery() as nursery:
            await nursery.start(root.run, [diary.plain("store")])

            async def flow() -> None:
                await root.add(diary.plain("mail:a", start_s=1))
                await root.remove("mail:a")

            await run(flow)
            assert root.states()["store"].phase == "running"
            await root.remove("mail:a")  # whatever became of it, it can be removed
            assert list(root.states()) == ["store"]
            root.drain("test over")
        assert diary.entries.count("mail:a ends") <= 1

    assert await cancel_everywhere(attempt) >= 3
