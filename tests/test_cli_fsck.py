"""``svc fsck`` as a process: what it finds in a home, and what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from svc.clock import VirtualClock
from svc.nursery import ThreadPool
from tests.recorded_log import RecordedLog
from tests.support.process import ServiceProcess
from tests.support.service import Service, open_service


@pytest.fixture
def lived_in(tmp_path: Path) -> ServiceProcess:
    """A home with a mail and its attachment, nobody running on it."""

    async def live() -> None:
        clock = VirtualClock()
        async with open_service(tmp_path, clock=clock, log=RecordedLog(clock), PROVIDERS="fake") as service:
            await with_a_file(service)

    trio.run(live, clock=MockClock(autojump_threshold=0))
    return ServiceProcess(tmp_path)


async def with_a_file(service: Service) -> None:
    await service.synced("A file", attachments=[{"filename": "a.txt", "mime": "text/plain", "text": "attached"}])


def blob(process: ServiceProcess) -> Path:
    """The attachment's."""
    ((sha256,),) = process.rows("select sha256 from files")
    return Path(process.home, "blobs", sha256[:2], sha256)


def test_fsck_finds_a_sound_home_sound_and_changes_nothing(lived_in: ServiceProcess) -> None:
    def content() -> dict[Path, bytes]:
        files = [path for path in lived_in.home.rglob("*") if path.is_file()]
        return {path: path.read_bytes() for path in files if not path.name.endswith(("-shm", "-wal"))}

    before = content()
    for arguments in (("fsck",), ("fsck", "--deep")):
        done = lived_in.command(*arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")
    assert json.loads(lived_in.command("fsck", "--json").stdout) == {"ok": True, "problems": []}
    assert content() == before


def test_reindexing_leaves_a_sound_home_and_everything_to_do(lived_in: ServiceProcess) -> None:
    assert lived_in.command("mail", "reindex").returncode == 0
    assert lived_in.rows("select version from mail_search_state") == [(0,)]
    assert lived_in.command("fsck").stdout == "ok\n"


def test_fsck_names_what_is_missing_and_when_asked_what_is_damaged(lived_in: ServiceProcess) -> None:
    path = blob(lived_in)
    whole = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(whole[:-1] + b"!")
    assert lived_in.command("fsck").returncode == 0
    deep = lived_in.command("fsck", "--deep", "--json")
    assert deep.returncode == 1
    problems = json.loads(deep.stdout)["problems"]
    assert len(problems) == len(set(problems)) == 1
    assert f"the blob {path.name} is damaged" in problems[0]
    path.unlink()
    missing = lived_in.command("fsck")
    assert missing.returncode == 1
    assert f"the blob {path.name} is missing" in missing.stdout
    assert whole.decode() not in missing.stdout


async def test_fsck_runs_beside_a_server(service: Service, tmp_path: Path, threads: ThreadPool) -> None:
    await with_a_file(service)
    done = await threads.run(ServiceProcess(tmp_path).command, "fsck", "--deep")
    assert (done.returncode, done.stdout) == (0, "ok\n")
    assert (await service.get("/readyz")).status == 200
    assert await service.synced("And on")


def test_fsck_of_what_is_no_home_says_so_and_makes_none(tmp_path: Path) -> None:
    done = ServiceProcess(tmp_path).command("fsck")
    assert (done.returncode, done.stdout) == (78, "")
    assert done.stderr.startswith("SVC_HOME: ")
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
