"""Snapshots of the files of pages: by restic itself, and what its exit codes mean."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path

import pytest
import trio

from svc.clock import DAY_MS, VirtualClock
from svc.nursery import ThreadPool
from svc.okf.snapshots import Kept, Snapshots, is_due
from svc.store import Store
from tests.peers.needs import RESTIC, needs
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S
from tests.support.process import until


@pytest.fixture
async def made(tmp_path: Path, wall: VirtualClock, log: RecordedLog, threads: ThreadPool) -> AsyncIterator[Snapshots]:
    (tmp_path / "home" / "okf").mkdir(parents=True)
    (tmp_path / "home" / "okf" / "a.md").write_text("a page")
    (tmp_path / "password").write_text("a long one")
    store = Store.open(tmp_path / "db", clock=wall, threads=threads)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(store.run_writer, started=lambda: None))
        yield Snapshots(
            store=store,
            clock=wall,
            log=log,
            home=tmp_path / "home",
            repository=str(tmp_path / "repository"),
            program="restic",
            environ={"PATH": os.environ["PATH"], "RESTIC_PASSWORD_FILE": str(tmp_path / "password"), "SECRET": "x"},
        )
        nursery.cancel_scope.cancel()
    store.close_now()


def pretends(made: Snapshots, *, script: str) -> Path:
    """In place of restic: a program that notes what it was asked, and then does this."""
    program = made.home / "pretender"
    program.write_text(f'#!/bin/sh\necho "$@" >> {made.home}/asked\nenv > {made.home}/environment\n{script}\n')
    program.chmod(stat.S_IRWXU)
    made.program = str(program)
    return made.home / "asked"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ('[ "$1" != backup ] || exit 3', "not whole"),
        ("exit 11", "locked by another program"),
        ("exit 12", "password is another"),
        ('[ "$1" != backup ] || exit 10', "no repository there any more"),
        ("echo 'Fatal: the disk is gone' >&2; exit 77", "the disk is gone"),
        ("[ $1 != check ] || exit 1", "restic ended with 1"),
    ],
)
async def test_whatever_restic_ends_with_is_told_and_nothing_but_0_is_good(
    made: Snapshots, script: str, words: str
) -> None:
    pretends(made, script=script)
    found = await made.make()
    assert found.problem is not None
    assert words in found.problem
    assert found.made_at is None


async def test_it_is_asked_for_a_snapshot_and_to_let_go_of_all_but_14_days(made: Snapshots) -> None:
    rows = '[{"time": "2026-11-25T21:00:00.123456789+01:00", "short_id": "ab12"}]'
    asked = pretends(made, script=f"""[ "$1" != cat ] || exit 10; [ "$1" != snapshots ] || echo '{rows}'""")
    found = await made.make()
    assert [(one.id, one.at) for one in found.snapshots] == [("ab12", "2026-11-25T20:00:00.123Z")]
    assert (found.problem, found.made_at) == (None, made.clock.now())
    lines = asked.read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["cat", "init", "unlock", "backup", "forget", "check", "snapshots"]
    assert "--keep-daily 14" in lines[4]
    environment = (made.home / "environment").read_text()
    assert f"RESTIC_REPOSITORY={made.repository}\n" in environment
    assert "SECRET" not in environment


async def test_a_program_that_is_not_there_is_told(made: Snapshots) -> None:
    made.program = "/nowhere/restic"
    found = await made.make()
    assert found.problem is not None
    assert "SVC_SNAPSHOT_BIN" in found.problem


async def test_it_is_due_once_a_night_and_again_some_hours_after_a_failure(wall: VirtualClock) -> None:
    now = wall.now()
    assert is_due(Kept(), now=now)
    done = Kept(tried_at=now, made_at=now)
    assert not is_due(done, now=now + 60_000)
    times = [at for at in range(now, now + 3 * DAY_MS, 600_000) if is_due(done, now=at)]
    assert 0 < times[0] - now <= DAY_MS
    failed = Kept(tried_at=now, made_at=now - DAY_MS, problem="away")
    assert not is_due(failed, now=now + 3_600_000) or times[0] <= now + 3_600_000
    assert is_due(failed, now=now + DAY_MS)
    assert is_due(done, now=now - DAY_MS)  # the clock went back


LOCKED_FOR_ALL = """
case "$*" in
    "cat config --no-lock") ;;
    unlock) rm -f locked ;;
    init) echo "Fatal: config file already exists" >&2; exit 1 ;;
    *) [ ! -e locked ] || { echo "Fatal: repository is already locked exclusively" >&2; exit 1; } ;;
esac
"""


async def test_a_restic_that_was_killed_before_the_first_snapshot_was_whole_leaves_no_lock(made: Snapshots) -> None:
    pretends(made, script=LOCKED_FOR_ALL)
    (made.home / "locked").touch()
    found = await made.make()
    assert (found.problem, found.made_at) == (None, made.clock.now())


@needs(RESTIC)
@pytest.mark.peer
@pytest.mark.thorough
@pytest.mark.wall_clock
async def test_what_restic_keeps_comes_back(made: Snapshots, tmp_path: Path) -> None:
    first = await made.make()
    assert (first.problem, len(first.snapshots)) == (None, 1)
    (made.home / "okf" / "a.md").write_text("a page, later")
    second = await made.make()
    assert second.problem is None
    assert len(second.snapshots) == 1  # of one day the last is kept
    environ = {**made.environ, "RESTIC_REPOSITORY": str(made.repository)}
    restore = ["restic", "restore", "latest", "--target", str(tmp_path / "back")]
    await trio.to_thread.run_sync(partial(subprocess.run, restore, env=environ, check=True, capture_output=True))
    (back,) = (tmp_path / "back").rglob("a.md")
    assert back.read_text() == "a page, later"
    await trio.to_thread.run_sync(partial(killed_at_its_work, made, environ))
    (made.home / "okf" / "a.md").write_text("a page, after that")
    third = await made.make()
    assert third.problem is None, "what is locked by a dead process is unlocked"
    shutil.rmtree(str(made.repository))
    gone = await made.make()
    assert gone.problem is not None
    assert not os.path.exists(str(made.repository))  # noqa: ASYNC240  a look at the end


def killed_at_its_work(made: Snapshots, environ: Mapping[str, str]) -> None:
    """restic, by ``kill -9``, once it has locked the repository."""
    locks = Path(str(made.repository)) / "locks"
    with subprocess.Popen(
        ["restic", "backup", "--stdin"], env=environ, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        until(lambda: any(locks.iterdir()), what="restic to lock its repository", deadline_s=HANGS_S)
        process.kill()
    assert any(locks.iterdir())
