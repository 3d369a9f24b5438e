"""A program that is started as a group: it ends whole, whatever it is and whatever happens meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from svc.nursery import process_group
from tests.sizes import HANGS_S
from tests.support.process import ROOT, until

pytestmark = pytest.mark.wall_clock
DEAF = 'trap "" TERM; (trap "" TERM; while :; do sleep 1; done) & echo $!; while :; do sleep 1; done'
OBEDIENT = 'trap "echo gone >gone; exit 0" TERM; echo $$; sleep 600 & wait'


def environ() -> dict[str, str]:
    return {"PATH": os.environ["PATH"]}


def is_gone(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


async def first_line(process: trio.Process) -> int:
    assert process.stdout is not None
    said = b""
    while b"\n" not in said:
        said += await process.stdout.receive_some()
    return int(said.split()[0])


async def test_one_that_was_waited_for_is_left_alone(tmp_path: Path) -> None:
    async with process_group(["/bin/sh", "-c", "exit 3"], environ=environ(), directory=tmp_path) as process:
        assert await process.wait() == 3


async def test_what_one_that_ended_by_itself_left_behind_ends_with_it(tmp_path: Path) -> None:
    leaves = "sleep 600 </dev/null >/dev/null 2>&1 & echo $!"
    async with process_group(["/bin/sh", "-c", leaves], environ=environ(), directory=tmp_path) as process:
        pid = await first_line(process)
        assert await process.wait() == 0
        assert not is_gone(pid)
    until(lambda: is_gone(pid), what="the end of what was left", deadline_s=HANGS_S)


@pytest.mark.thorough
async def test_one_that_heeds_the_wish_to_end_has_its_moment(tmp_path: Path) -> None:
    async with process_group(["/bin/sh", "-c", OBEDIENT], environ=environ(), directory=tmp_path) as process:
        pid = await first_line(process)
    assert (tmp_path / "gone").read_text() == "gone\n"
    assert is_gone(pid)


@pytest.mark.parametrize("stdin", [subprocess.PIPE, subprocess.DEVNULL])
async def test_one_that_does_not_is_killed_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stdin: int
) -> None:
    monkeypatch.setattr("svc.nursery.child_process.GRACE_S", 0.05)
    found: list[int] = []

    async def fail_inside() -> None:
        async with process_group(
            ["/bin/sh", "-c", DEAF], environ=environ(), directory=tmp_path, stdin=stdin
        ) as process:
            found.append(await first_line(process))
            raise RuntimeError("meanwhile")

    with pytest.raises(RuntimeError, match="meanwhile"):
        await fail_inside()
    until(lambda: is_gone(found[0]), what="its child to be gone", deadline_s=HANGS_S)


async def test_one_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await process_group([str(tmp_path / "none")], environ=environ(), directory=tmp_path).__aenter__()


OWNER = """
import os, sys, trio
from pathlib import Path
from svc.nursery import leash, process_group

async def main():
    command = ["/bin/sh", "-c", "trap '' PIPE; sleep 600 & wait"]
    async with process_group(command, environ={"PATH": os.defpath}, directory=Path("/")) as process, leash(process):
        print(process.pid, flush=True)
        await trio.sleep_forever()

trio.run(main)
"""


def test_one_on_a_leash_does_not_outlive_us_where_we_are_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True, cwd=ROOT) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        assert not is_gone(pid)
        owner.send_signal(signal.SIGKILL)
    until(lambda: is_gone(pid), what="the program to end", deadline_s=HANGS_S)
