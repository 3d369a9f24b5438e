"""The tick on virtual time: when a job runs, and what does not keep it from running."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trio

from svc.clock import HOUR_MS, MINUTE_MS, SECOND_MS, Millis, VirtualClock
from svc.job import TICK_S, Job
from svc.nursery import Root, Subsystem, open_task_group
from svc.scheduler import Scheduler
from svc.scheduler.tasks import SHORTEST_PAUSE_S
from tests.recorded_log import RecordedLog

YEAR_MS = 365 * 24 * HOUR_MS


@dataclass(kw_only=True)
class Tasks:
    """A job with dates, of which each is done once, however often it is asked."""

    clock: VirtualClock
    dates: list[Millis] = field(default_factory=list)
    runs_s: list[float] = field(default_factory=list)
    done: list[Millis] = field(default_factory=list)

    async def run(self) -> Millis | None:
        self.runs_s.append(trio.current_time())
        now = self.clock.now()
        due = [date for date in self.dates if date <= now]
        self.dates = [date for date in self.dates if date > now]
        await trio.lowlevel.checkpoint()
        self.done += due
        return min(self.dates, default=None)


@asynccontextmanager
async def running(scheduler: Scheduler[None], log: RecordedLog) -> AsyncIterator[Root]:
    root = Root(log=log, rng=random.Random(7))
    async with open_task_group() as nursery:
        await nursery.start(root.run, [Subsystem(name="scheduler", run=scheduler.run)])
        yield root
        root.drain("test over")


def job_of(name: str, run: Callable[[], Awaitable[Millis | None]]) -> Job[None]:
    return Job(name=name, summary="", run=lambda context: run())


def scheduler_of(clock: VirtualClock, **jobs: Callable[[], Awaitable[Millis | None]]) -> Scheduler[None]:
    scheduler = Scheduler(clock=clock, context=None)
    for name, run in jobs.items():
        scheduler.add(job_of(name, run))
    return scheduler


@pytest.fixture
def tasks(wall: VirtualClock) -> Tasks:
    return Tasks(clock=wall)


async def test_every_job_runs_at_once_and_then_each_thirty_seconds(
    tasks: Tasks, wall: VirtualClock, log: RecordedLog
) -> None:
    start_s = trio.current_time()
    other = Tasks(clock=wall)
    async with running(scheduler_of(wall, one=tasks.run, other=other.run), log):
        await trio.sleep(3 * TICK_S + 1)
    assert [at_s - start_s for at_s in tasks.runs_s] == [0, 30, 60, 90]
    assert other.runs_s == tasks.runs_s


async def test_what_is_due_between_two_ticks_is_done_at_its_own_time(
    tasks: Tasks, wall: VirtualClock, log: RecordedLog
) -> None:
    start_s = trio.current_time()
    tasks.dates = [wall.now() + 10 * SECOND_MS, wall.now() + 45 * SECOND_MS]
    async with running(scheduler_of(wall, one=tasks.run), log):
        await trio.sleep(50)
    assert [at_s - start_s for at_s in tasks.runs_s] == [0, 10, 40, 45]
    assert len(tasks.done) == 2


async def test_a_nudge_is_heard_at_once_also_by_a_job_that_runs_just_then(wall: VirtualClock, log: RecordedLog) -> None:
    began_s: list[float] = []

    async def slow() -> None:
        began_s.append(trio.current_time())
        await trio.sleep(3)

    start_s = trio.current_time()
    scheduler = scheduler_of(wall, slow=slow)
    async with running(scheduler, log):
        await trio.sleep(1)
        scheduler.nudge("slow")
        scheduler.nudge("slow")
        await trio.sleep(9)
        scheduler.nudge("slow")
        await trio.sleep(5)
    assert [at_s - start_s for at_s in began_s] == [0, 3, 10]


async def test_a_job_that_crashes_is_told_in_the_log_and_tried_again_while_the_others_go_on(
    tasks: Tasks, wall: VirtualClock, log: RecordedLog
) -> None:
    crashes = 0

    async def broken() -> None:
        nonlocal crashes
        crashes += 1
        raise ValueError("a mistake")

    async with running(scheduler_of(wall, broken=broken, sound=tasks.run), log) as root:
        await trio.sleep(2 * TICK_S + 1)
        assert root.states()["scheduler"].restarts == 0
    assert crashes == 3
    assert len(tasks.runs_s) == 3
    assert [entry["job"] for entry in log.records if entry["event"] == "scheduler.job_failed"] == ["broken"] * 3


async def test_a_job_that_hangs_holds_up_nobody_else(tasks: Tasks, wall: VirtualClock, log: RecordedLog) -> None:
    async def hung() -> None:
        await trio.sleep_forever()

    async with running(scheduler_of(wall, hung=hung, sound=tasks.run), log):
        await trio.sleep(2 * TICK_S + 1)
    assert len(tasks.runs_s) == 3


async def test_eight_hours_of_sleep_end_in_one_run(tasks: Tasks, wall: VirtualClock, log: RecordedLog) -> None:
    """The machine sleeps: the wall goes on, Trio's clock does not."""
    tasks.dates = [wall.now() + hour * HOUR_MS for hour in range(1, 12)]
    async with running(scheduler_of(wall, one=tasks.run), log):
        await trio.sleep(5)
        wall.offset_ms += 8 * HOUR_MS
        before = len(tasks.runs_s)
        await trio.sleep(TICK_S)
        assert len(tasks.runs_s) == before + 1
        assert len(tasks.done) == 8
        await trio.sleep(TICK_S)
        assert len(tasks.runs_s) == before + 2


@pytest.mark.parametrize("jump_ms", [HOUR_MS, -HOUR_MS, 10 * YEAR_MS, -10 * YEAR_MS])
async def test_a_wall_clock_that_jumps_makes_nothing_happen_twice_and_is_met_within_a_tick(
    jump_ms: int, tasks: Tasks, wall: VirtualClock, log: RecordedLog
) -> None:
    date = wall.now() + 10 * SECOND_MS
    tasks.dates = [date]
    async with running(scheduler_of(wall, one=tasks.run), log):
        await trio.sleep(11)
        wall.offset_ms += jump_ms
        await trio.sleep(2 * TICK_S)
        assert tasks.done == [date]
        later = wall.now() + 7 * MINUTE_MS
        tasks.dates = [later]
        await trio.sleep(8 * 60)
    assert tasks.done == [date, later]


async def test_a_job_whose_date_stays_in_the_past_does_not_spin(wall: VirtualClock, log: RecordedLog) -> None:
    runs = 0

    async def never_done() -> Millis:
        nonlocal runs
        runs += 1
        return wall.now() - HOUR_MS

    async with running(scheduler_of(wall, never_done=never_done), log):
        await trio.sleep(10.1)
    assert runs == 1 + 10 / SHORTEST_PAUSE_S


async def test_a_job_with_an_interval_of_its_own_waits_for_it(
    tasks: Tasks, wall: VirtualClock, log: RecordedLog
) -> None:
    scheduler: Scheduler[None] = Scheduler(clock=wall, context=None)
    start_s = trio.current_time()
    scheduler.add(Job(name="rare", summary="", run=lambda context: tasks.run(), every_s=600.0, at_once=False))
    async with running(scheduler, log):
        await trio.sleep(1500)
    assert [at_s - start_s for at_s in tasks.runs_s] == pytest.approx([600, 1200])


async def test_every_job_and_its_last_run_stand_in_one_list(tasks: Tasks, wall: VirtualClock, log: RecordedLog) -> None:
    async def broken() -> None:
        raise RuntimeError("no")

    scheduler = scheduler_of(wall, sound=tasks.run, broken=broken)
    assert [(state.name, state.runs, state.last_at) for state in scheduler.states()] == [
        ("sound", 0, None),
        ("broken", 0, None),
    ]
    started_at = wall.now()
    async with running(scheduler, log):
        await trio.sleep(TICK_S + 1)
    sound, failing = scheduler.states()
    assert (sound.runs, sound.last_at, sound.problem) == (2, started_at + round(TICK_S) * SECOND_MS, "")
    assert (failing.runs, failing.problem) == (2, "RuntimeError: no")


async def test_a_drain_ends_it_between_two_steps(tasks: Tasks, wall: VirtualClock, log: RecordedLog) -> None:
    async with running(scheduler_of(wall, one=tasks.run), log) as root:
        await trio.sleep(1)
        root.drain("over")
        with trio.fail_after(1):
            await root.remove("scheduler")
    assert len(tasks.runs_s) == 1


async def test_it_may_be_run_again_after_it_ended(tasks: Tasks, wall: VirtualClock, log: RecordedLog) -> None:
    scheduler = scheduler_of(wall, one=tasks.run)
    async with running(scheduler, log):
        await trio.sleep(1)
    async with running(scheduler, log):
        await trio.sleep(1)
    assert len(tasks.runs_s) == 2


async def test_two_jobs_of_one_name_and_one_that_comes_too_late_are_bugs(
    tasks: Tasks, wall: VirtualClock, log: RecordedLog
) -> None:
    scheduler = scheduler_of(wall, one=tasks.run)
    with pytest.raises(RuntimeError, match="one"):
        scheduler.add(job_of("one", tasks.run))
    async with running(scheduler, log):
        with pytest.raises(RuntimeError, match="late"):
            scheduler.add(job_of("late", tasks.run))
