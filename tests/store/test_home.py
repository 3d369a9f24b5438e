"""The home: private, with an id of its own, and held by one process at a time."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc.store import CannotOpen, Home, HomeBusy, HomeNotWritable, write_durably

HOLDER = """
import subprocess, sys
from pathlib import Path
from svc.store import Home
home = Home.open(Path(sys.argv[1]))
child = subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_home_is_a_private_tree_with_every_room(tmp_path: Path) -> None:
    with Home.open(tmp_path / "a" / "Svc") as home:
        for room in (home.path, home.database.parent, home.blobs, home.path / "okf", home.spool, home.log):
            assert mode(room) == 0o700
        (home.spool / "file").touch()
        assert mode(home.spool / "file") == 0o600


def test_a_home_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with Home.open(tmp_path):
        assert mode(tmp_path) == 0o700


def test_the_id_stays_with_the_home_wherever_it_is_moved(tmp_path: Path) -> None:
    with Home.open(tmp_path / "one") as home:
        first = home.id
    (tmp_path / "one").rename(tmp_path / "two")
    with Home.open(tmp_path / "two") as home:
        assert home.id == first
    with Home.open(tmp_path / "one") as home:
        assert home.id != first


def test_a_damaged_id_is_refused_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "home-id").write_bytes(b"\xff../../etc")
    with pytest.raises(CannotOpen, match="damaged"):
        Home.open(tmp_path)
    assert (tmp_path / "home-id").read_bytes() == b"\xff../../etc"
    (tmp_path / "home-id").unlink()
    Home.open(tmp_path).close()  # the refusal left no lock behind


def test_a_second_process_is_refused_with_the_first_ones_pid_until_that_dies(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        survivor = int(holder.stdout.readline())  # a program the holder started, which outlives it
        try:
            with pytest.raises(HomeBusy, match=f"process {holder.pid}") as busy:
                Home.open(tmp_path)
            assert busy.value.pid == holder.pid
            Home.open(tmp_path, exclusive=False).close()
            holder.send_signal(signal.SIGKILL)
            holder.wait()
            Home.open(tmp_path).close()
        finally:
            os.kill(survivor, signal.SIGKILL)


def test_a_home_that_cannot_be_made_is_a_clear_refusal(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HomeNotWritable, match="set SVC_HOME"):
        Home.open(tmp_path / "file" / "Svc")
    with pytest.raises(HomeNotWritable, match="set SVC_HOME"):
        Home.open(tmp_path / "file")


def test_looking_into_a_home_that_is_none_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match="no home"):
        Home.open(tmp_path / "nothing", exclusive=False)
    assert list(tmp_path.iterdir()) == []


def test_a_durable_write_replaces_the_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "note"
    for content in (b"one", b"two"):
        write_durably(target, content)
        assert target.read_bytes() == content
    assert list(tmp_path.iterdir()) == [target]
