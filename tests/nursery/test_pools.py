"""The pools: limits, cancellation, deadlines, crashes, and virtual time that stands still meanwhile."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from svc.cli import main
from svc.nursery import ProcessPool, ThreadPool, WorkerCrashed, WorkerTimeout
from svc.nursery.thread_pool import TURN_S
from tests.nursery import jobs
from tests.sizes import HANGS_S

LONG_S = HANGS_S
PYTHONS_OWN_S = 0.005

# Threads


def test_every_command_has_threads_give_the_interpreter_away_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[float]()
    monkeypatch.setattr(sys, "setswitchinterval", told.append)
    assert main(["config"]) == 0
    assert told == [TURN_S]
    assert TURN_S < PYTHONS_OWN_S / 2


async def test_time_stands_still_while_a_thread_works(threads: ThreadPool, clock: MockClock) -> None:
    release = threading.Event()

    async def sleeper() -> None:
        await trio.sleep(3_600)

    async def looker() -> None:
        while not release.is_set():
            assert clock.autojump_threshold == math.inf
            release.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(sleeper)
        nursery.start_soon(looker)
        assert await threads.run(release.wait, 30)
        assert trio.current_time() == 0
        assert clock.autojump_threshold == 0
    assert trio.current_time() == 3_600


async def test_time_goes_on_after_the_last_of_several_calls(threads: ThreadPool, clock: MockClock) -> None:
    release = threading.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(threads.run, release.wait, 30)
        await trio.testing.wait_all_tasks_blocked()
        await threads.run(jobs.double, 1)
        assert clock.autojump_threshold == math.inf
        release.set()
    assert clock.autojump_threshold == 0


async def test_a_fault_in_a_thread_comes_out_and_gives_time_back(threads: ThreadPool, clock: MockClock) -> None:
    with pytest.raises(ValueError, match="bad mail"):
        await threads.run(jobs.refuse, "bad mail")
    assert clock.autojump_threshold == 0


async def test_a_clock_that_does_not_jump_is_left_alone(threads: ThreadPool, clock: MockClock) -> None:
    clock.autojump_threshold = math.inf
    assert await threads.run(jobs.double, 4) == 8
    assert clock.autojump_threshold == math.inf


async def test_no_more_threads_work_at_a_time_than_the_limit() -> None:
    pool = ThreadPool(limit=2, name="test")
    lock = threading.Lock()
    at_work, most = 0, 0
    both = threading.Barrier(2)

    def call() -> None:
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
        both.wait(30)
        with lock:
            at_work -= 1

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(pool.run, call)
    assert most == 2


async def test_a_call_that_has_begun_is_awaited_although_cancelled(threads: ThreadPool) -> None:
    begun, release = threading.Event(), threading.Event()
    ended: list[str] = []

    def call() -> None:
        begun.set()
        release.wait(30)
        ended.append("ended")

    async def release_later() -> None:
        await threads.run(begun.wait, 30)
        scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        release.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(release_later)
        with trio.CancelScope() as scope:
            await threads.run(call)
        assert ended == ["ended"]


@pytest.mark.wall_clock
async def test_a_gate_works_on_the_real_clock(threads: ThreadPool) -> None:
    assert await threads.run(jobs.double, 21) == 42


# Processes


@pytest.fixture
async def processes() -> AsyncIterator[ProcessPool]:
    async with ProcessPool(limit=2, name="test") as pool:
        yield pool


async def test_a_function_runs_in_another_process_which_is_kept(processes: ProcessPool, clock: MockClock) -> None:
    assert await processes.run(jobs.double, 21, deadline_s=LONG_S) == 42
    first = await processes.run(jobs.pid, deadline_s=LONG_S)
    assert first != os.getpid()
    assert await processes.run(jobs.pid, deadline_s=LONG_S) == first
    assert trio.current_time() == 0
    assert clock.autojump_threshold == 0


@pytest.mark.thorough
async def test_a_worker_is_kept_however_much_its_parent_once_held() -> None:
    held = bytearray(b"x") * (320 << 20)
    held.clear()
    async with ProcessPool(limit=1, name="test", memory_bytes=512 << 20) as pool:
        first = await pool.run(jobs.pid, deadline_s=LONG_S)
        assert await pool.run(jobs.pid, deadline_s=LONG_S) == first


async def test_a_fault_of_the_function_comes_out(processes: ProcessPool) -> None:
    with pytest.raises(ValueError, match="bad mail"):
        await processes.run(jobs.refuse, "bad mail", deadline_s=LONG_S)


async def test_a_call_over_its_deadline_is_killed(processes: ProcessPool, clock: MockClock) -> None:
    async def pass_time() -> None:
        await trio.testing.wait_all_tasks_blocked(0.05)
        clock.jump(LONG_S)

    first = await processes.run(jobs.pid, deadline_s=LONG_S)
    for endless in (jobs.spin, jobs.hang):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pass_time)
            with pytest.raises(WorkerTimeout, match="longer than"):
                await processes.run(endless, deadline_s=LONG_S)
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    assert await processes.run(jobs.double, 1, deadline_s=LONG_S) == 2


async def test_a_cancelled_call_is_killed(processes: ProcessPool) -> None:
    worker = await processes.run(jobs.pid, deadline_s=LONG_S)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: processes.run(jobs.spin, deadline_s=LONG_S))
        await trio.testing.wait_all_tasks_blocked(0.05)
        nursery.cancel_scope.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


async def test_a_worker_that_dies_is_told_from_one_that_is_slow(processes: ProcessPool) -> None:
    with pytest.raises(WorkerCrashed, match="died"):
        await processes.run(jobs.die, deadline_s=LONG_S)
    assert await processes.run(jobs.double, 1, deadline_s=LONG_S) == 2


async def test_a_worker_that_reads_mail_loads_neither_trio_nor_the_nursery(processes: ProcessPool) -> None:
    """They would be most of its start."""
    parsers = ("svc.formats.mime.many", "svc.formats.words.entries")
    loaded = await processes.run(jobs.loaded_with, *parsers, deadline_s=LONG_S)
    assert {*parsers, "svc.worker_limits"} <= loaded
    assert not {"trio", "svc.nursery", "attrs", "asyncio", "ssl"} & loaded


async def test_a_worker_is_limited_in_memory_core_and_processor_time() -> None:
    async with ProcessPool(limit=1, name="test", memory_bytes=1 << 29) as pool:
        space, core, processor_s = await pool.run(jobs.limits, deadline_s=5)
        assert (space, core) == (1 << 29, 0)
        assert 5 < processor_s <= 7
        with pytest.raises(WorkerCrashed, match="out of memory"):
            await pool.run(jobs.swell, 1 << 29, deadline_s=LONG_S)


@pytest.mark.thorough
async def test_a_worker_that_swelled_is_replaced() -> None:
    async with ProcessPool(limit=1, name="test", memory_bytes=1 << 29) as pool:
        first = await pool.run(jobs.pid, deadline_s=LONG_S)
        assert await pool.run(jobs.swell, 290 << 20, deadline_s=LONG_S) == 290 << 20
        assert await pool.run(jobs.pid, deadline_s=LONG_S) != first


@pytest.mark.thorough
async def test_processor_time_ends_a_worker_whose_deadline_nobody_watches(processes: ProcessPool) -> None:
    """Virtual time stands still, so only the system's own limit is left."""
    with pytest.raises(WorkerCrashed):
        await processes.run(jobs.spin, deadline_s=0.1)


@pytest.mark.thorough
async def test_an_idle_worker_that_does_not_end_by_itself_is_ended_by_force() -> None:
    async with ProcessPool(limit=1, name="test") as pool:
        stuck = await pool.run(jobs.pid, deadline_s=LONG_S)
        os.kill(stuck, signal.SIGSTOP)
    with pytest.raises(ProcessLookupError):
        os.kill(stuck, 0)


async def test_sigterm_to_the_whole_group_does_not_break_a_call(processes: ProcessPool) -> None:
    assert await processes.run(jobs.survive_sigterm, deadline_s=LONG_S) == "still here"


async def test_no_worker_is_left_when_the_gate_closes() -> None:
    async with ProcessPool(limit=2, name="test") as pool, trio.open_nursery() as nursery:
        idle = await pool.run(jobs.pid, deadline_s=LONG_S)
        closed: list[type[BaseException]] = []

        async def busy() -> None:
            try:
                await pool.run(jobs.spin, deadline_s=LONG_S)
            except trio.ClosedResourceError as error:
                closed.append(type(error))

        nursery.start_soon(busy)
        await trio.testing.wait_all_tasks_blocked(0.05)
        await pool.aclose()
    assert closed == [trio.ClosedResourceError]
    with pytest.raises(ProcessLookupError):
        os.kill(idle, 0)
    with pytest.raises(trio.ClosedResourceError):
        await pool.run(jobs.double, 1, deadline_s=LONG_S)


SERVICE = """
import trio
from svc.nursery import ProcessPool
from tests.nursery import jobs

async def main():
    async with ProcessPool(limit=1, name="test") as pool:
        await pool.run(jobs.announce_and_hang, deadline_s=600)

if __name__ == "__main__":
    trio.run(main)
"""


@pytest.mark.wall_clock
async def test_a_busy_worker_ends_with_a_service_that_was_killed(tmp_path: Path) -> None:
    script = tmp_path / "service.py"
    script.write_text(SERVICE)
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with trio.fail_after(HANGS_S):
        async with trio.open_nursery() as nursery:
            run = partial(trio.run_process, stdout=subprocess.PIPE, env=environ, check=False)
            service: trio.Process = await nursery.start(run, [sys.executable, str(script)])
            assert service.stdout is not None
            assert await service.stdout.receive_some() == b"here\n"
            service.kill()
            # The worker holds the other end of this pipe for as long as it lives.
            assert await service.stdout.receive_some() == b""
