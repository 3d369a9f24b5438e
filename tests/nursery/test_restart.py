"""Crashes: what is restarted and when, who notices, and what ends the whole process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest
import trio

from svc.backoff import LONGEST_PAUSE_S
from svc.nursery import Child, Root, Subsystem
from tests.nursery.conftest import Diary, Running
from tests.recorded_log import RecordedLog


class StoreBroken(Exception):
    pass


def crashing(name: str, lives: list[float], *, after_s: float = 0.0, essential: bool = False) -> Subsystem:
    """Serves for ``after_s`` and crashes, each time; notes when each life began."""

    async def run(child: Child) -> None:
        child.started()
        lives.append(trio.current_time())
        await trio.sleep(after_s)
        raise StoreBroken("the disk is gone")

    return Subsystem(name=name, run=run, essential=essential)


def run_as_work(fn: Callable[[Child], Awaitable[None]]) -> Callable[[Child], Awaitable[None]]:
    """Not cut off when the intake is."""

    async def run(child: Child) -> None:
        child.work.start_soon(fn, child)
        child.started()
        await trio.sleep_forever()

    return run


async def test_a_crashed_subsystem_lives_again(root: Root, running: Running) -> None:
    lives: list[float] = []
    async with running(crashing("scheduler", lives, after_s=1)):
        await trio.sleep(600)
        state = root.states()["scheduler"]
    assert len(lives) > 10
    assert state.restarts >= len(lives) - 1
    assert state.last_error == "StoreBroken: the disk is gone"


async def test_the_pauses_grow_to_a_cap(running: Running) -> None:
    lives: list[float] = []
    async with running(crashing("scheduler", lives)):
        await trio.sleep(7_200)
    pauses = [after - before for before, after in pairwise(lives)]
    assert pauses[0] <= 1
    assert pauses[1] <= 2
    assert max(pauses) <= LONGEST_PAUSE_S
    assert sum(pauses[-20:]) / 20 > 15  # about half the cap


async def test_after_a_healthy_time_the_next_restart_is_quick(running: Running) -> None:
    lives: list[float] = []
    async with running(crashing("scheduler", lives, after_s=301)):
        await trio.sleep(36_000)
    assert all(after - before <= 302 for before, after in pairwise(lives))


async def test_siblings_do_not_notice(running: Running, diary: Diary) -> None:
    async with running(diary.plain("store"), crashing("scheduler", [], after_s=1), diary.plain("http")):
        await trio.sleep(600)
        assert diary.entries == ["store serves", "http serves"]


async def test_a_crash_in_the_work_ends_that_life_whole(running: Running) -> None:
    entries: list[str] = []

    async def broken() -> None:
        await trio.sleep(1)
        raise StoreBroken

    async def run(child: Child) -> None:
        child.work.start_soon(broken)
        child.started()
        entries.append("begins")
        try:
            await trio.sleep_forever()
        finally:
            entries.append("ends")

    async with running(Subsystem(name="http", run=run)):
        await trio.sleep(30)
    assert len(entries) >= 6
    assert entries == ["begins", "ends"] * (len(entries) // 2)


async def test_a_crash_is_logged_whole_with_the_name_of_its_subsystem(running: Running, log: RecordedLog) -> None:
    async def both(child: Child) -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(crash)

    async def crash() -> None:
        raise StoreBroken("the token=abcdefgh leaked")

    async with running(Subsystem(name="http", run=both)):
        pass
    record = next(record for record in log.records if record["event"] == "subsystem.crashed")
    assert record["task"] == "http"
    assert record["again"] is True
    assert str(record["traceback"]).count("StoreBroken: the token=********") == 2
    assert "abcdefgh" not in log.text


async def test_the_last_error_shown_is_one_redacted_line(root: Root, running: Running) -> None:
    async def run(child: Child) -> None:
        raise RuntimeError("Authorization: Bearer abcdefghijkl\nand more" + "x" * 1_000)

    async with running(Subsystem(name="http", run=run)):
        shown = root.states()["http"].last_error
    assert "abcdefghijkl" not in shown
    assert "\n" not in shown
    assert len(shown) < 400


async def test_a_crash_while_draining_is_not_followed_by_another_life(
    root: Root, running: Running, log: RecordedLog
) -> None:
    lives = 0

    async def run(child: Child) -> None:
        nonlocal lives
        lives += 1
        child.started()
        try:
            await trio.sleep_forever()
        finally:
            raise StoreBroken("could not say goodbye")

    async with running(Subsystem(name="http", run=run)):
        pass
    assert lives == 1
    assert root.states()["http"].phase == "failed"
    assert log.events("error") == ["subsystem.crashed"]


async def test_a_drain_does_not_wait_for_a_restart(running: Running) -> None:
    lives: list[float] = []
    async with running(crashing("scheduler", lives)):
        await trio.sleep(3_600)
        before = trio.current_time()
    assert trio.current_time() == before


# What takes the process down


async def test_an_essential_crash_drains_the_others_and_is_raised(root: Root, running: Running, diary: Diary) -> None:
    with pytest.raises(StoreBroken, match="the disk is gone"):
        async with running(
            crashing("store", [], after_s=10, essential=True),
            diary.plain("mail"),
            diary.working("http", work_s=13),
        ):
            await trio.sleep_forever()
    assert diary.entries == ["mail serves", "http finished at 13", "mail ends"]
    assert root.states()["store"].phase == "failed"


async def test_an_essential_crash_at_the_start_starts_no_more(running: Running, diary: Diary) -> None:
    with pytest.raises(StoreBroken):
        async with running(crashing("store", [], essential=True), diary.plain("http", start_s=1)):
            await trio.sleep_forever()
    assert "http serves" not in diary.entries


async def test_an_essential_crash_at_the_very_end_is_raised_too(running: Running) -> None:
    async def run(child: Child) -> None:
        child.started()
        try:
            await trio.sleep_forever()
        finally:
            raise StoreBroken("could not write the checkpoint")

    with pytest.raises(StoreBroken, match="checkpoint"):
        async with running(Subsystem(name="store", run=run, essential=True)):
            pass


async def test_one_signal_after_an_essential_crash_does_not_cut_the_drain_short(root: Root, diary: Diary) -> None:
    async def signal_at_two(child: Child) -> None:
        await trio.sleep(2)
        root.drain("SIGTERM")

    signals = Subsystem(name="signals", run=run_as_work(signal_at_two))
    with pytest.raises(StoreBroken):
        await root.run([crashing("store", [], after_s=1, essential=True), diary.working("http", work_s=4), signals])
    assert diary.entries == ["http finished at 4"]


@pytest.mark.parametrize("exit_kind", [KeyboardInterrupt, SystemExit])
async def test_an_interrupt_takes_everything_down_at_once(
    root: Root, diary: Diary, exit_kind: type[BaseException]
) -> None:
    async def run(child: Child) -> None:
        child.started()
        await trio.sleep(1)
        raise exit_kind

    with pytest.raises(exit_kind):
        await root.run([diary.working("http", work_s=99), Subsystem(name="mail", run=run)])
    assert diary.entries == ["http cut off at 1"]


async def test_a_crash_beside_an_interrupt_is_logged_and_does_not_hide_it(root: Root, log: RecordedLog) -> None:
    async def interrupted() -> None:
        raise KeyboardInterrupt

    async def run(child: Child) -> None:
        child.work.start_soon(interrupted)
        try:
            await trio.sleep_forever()
        finally:
            raise StoreBroken

    with pytest.raises(KeyboardInterrupt):
        await root.run([Subsystem(name="mail", run=run)])
    assert log.events("error") == ["subsystem.crashed"]
