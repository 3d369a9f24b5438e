"""One boot, from settings to drained: what stops it and what that leaves untouched, and how a running service ends."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest
import trio
import trio.testing

from svc.app import EXIT_FAILURE, EXIT_HOME_BUSY, BootFault, all_rules, all_settings, serve
from svc.clock import VirtualClock
from svc.config import EXIT_CONFIG, ConfigError, read_config
from svc.feature import Feature, Seed
from svc.store import StoreBroken
from svc.workspace import Workspace
from tests.quiet import all_quiet
from tests.recorded_log import RecordedLog
from tests.support.http import read_to_end, replies
from tests.support.service import ANSWER_DEADLINE_S, HOST, Service, open_service

CLIENT = {"IDP_CLIENT_ID": "id", "IDP_CLIENT_SECRET": "canary-client-secret"}


async def refused_boot(directory: Path, clock: VirtualClock, **settings: str) -> BootFault | ConfigError:
    """The fault with which a server on this home ends before it serves."""
    environ: Mapping[str, str] = {
        "HOME": str(directory),
        "XDG_CONFIG_HOME": str(directory / "config"),
        "SVC_HOME": str(directory / "home"),
        "SVC_PORT": "0",
        "SVC_INTERNAL_PORT": "0",
        **settings,
    }
    config = read_config(all_settings(), environ, all_rules())
    with pytest.raises((BootFault, ConfigError)) as caught, trio.fail_after(60):
        await serve(config, clock=clock, log=RecordedLog(clock), environ=environ, signals=False)
    fault = caught.value
    assert isinstance(fault, BootFault | ConfigError)
    return fault


@pytest.fixture
async def lived_in(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> Path:
    """A directory whose home has been served from before, and keeps a secret."""
    async with open_service(tmp_path, clock=wall, log=log, environ=CLIENT):
        pass
    return tmp_path


async def still_boots(directory: Path, clock: VirtualClock, log: RecordedLog) -> bool:
    async with open_service(directory, clock=clock, log=log, environ=CLIENT) as service:
        return (await service.get("/readyz")).status == 200


def content(directory: Path) -> dict[str, bytes]:
    """But for the lock, in which each process that takes it writes who it is."""
    files = [path for path in sorted(directory.rglob("*")) if path.is_file() and path.name != "lock"]
    return {str(path): path.read_bytes() for path in files}


# What stops a boot


async def test_a_home_that_is_no_directory_is_named(tmp_path: Path, wall: VirtualClock) -> None:
    (tmp_path / "file").write_text("mine")
    for home in ("file", "file/home", "file/home/deeper"):
        fault = await refused_boot(tmp_path, wall, SVC_HOME=str(tmp_path / home))
        assert fault.exit_code == EXIT_CONFIG
        assert str(fault).startswith("SVC_HOME: ")
        assert str(tmp_path / home) in str(fault)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere: run it as another user")
async def test_a_home_that_may_not_be_written_is_named(tmp_path: Path, wall: VirtualClock) -> None:
    os.chmod(tmp_path, 0o500)
    try:
        fault = await refused_boot(tmp_path, wall)
    finally:
        os.chmod(tmp_path, 0o700)
    assert fault.exit_code == EXIT_CONFIG
    assert str(fault).startswith("SVC_HOME: ")


async def test_a_home_in_use_is_refused_with_the_pid(service: Service, tmp_path: Path, wall: VirtualClock) -> None:
    fault = await refused_boot(tmp_path, wall)
    assert fault.exit_code == EXIT_HOME_BUSY
    assert f"process {os.getpid()}" in str(fault)
    assert (await service.get("/readyz")).status == 200


@pytest.mark.parametrize("name", ["SVC_PORT", "SVC_INTERNAL_PORT"])
async def test_a_port_in_use_is_told_before_anything_is_touched(tmp_path: Path, wall: VirtualClock, name: str) -> None:
    (taken,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with taken:
        port = taken.socket.getsockname()[1]
        fault = await refused_boot(tmp_path, wall, **{name: str(port)})
    assert fault.exit_code == EXIT_CONFIG
    assert str(fault) == f"{name}: port {port} is in use by another program; stop it, or set another port"
    assert os.listdir(tmp_path) == []


async def test_a_refused_boot_gives_the_port_back(lived_in: Path, wall: VirtualClock) -> None:
    (probe,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = probe.socket.getsockname()[1]
    await probe.aclose()
    (lived_in / "home" / "db" / "svc.sqlite3").write_bytes(b"no database")
    await refused_boot(lived_in, wall, SVC_PORT=str(port))
    (again,) = await trio.open_tcp_listeners(port, host="127.0.0.1")
    await again.aclose()


async def test_a_newer_versions_database_is_left_alone(lived_in: Path, wall: VirtualClock) -> None:
    with sqlite3.connect(lived_in / "home" / "db" / "svc.sqlite3") as database:
        database.execute(
            "insert into _sqlite_migrations (migration_set, name, applied_at) values ('mail', 'm999_later', 'x')"
        )
    database.close()
    before = content(lived_in)
    fault = await refused_boot(lived_in, wall)
    assert fault.exit_code == EXIT_FAILURE
    assert "newer version" in str(fault)
    assert "mail.m999_later" in str(fault)
    assert content(lived_in) == before


@pytest.mark.parametrize("damage", ["garbage", "cut", "torn page"])
async def test_a_damaged_database_is_refused_and_left_as_it_was(
    lived_in: Path, wall: VirtualClock, damage: str
) -> None:
    path = lived_in / "home" / "db" / "svc.sqlite3"
    whole = path.read_bytes()
    damaged = {
        "garbage": b"this is no database" * 1_000,
        "cut": whole[: len(whole) // 2 + 100],
        "torn page": whole[:4_096] + b"\xff" * 8_192 + whole[12_288:],
    }[damage]
    path.write_bytes(damaged)
    fault = await refused_boot(lived_in, wall)
    assert fault.exit_code == EXIT_FAILURE
    assert f"{path} is damaged" in str(fault)
    assert "Nothing was changed" in str(fault)
    assert path.read_bytes() == damaged


def key_of(directory: Path) -> Path:
    (path,) = (directory / "config" / "svc" / "keys").iterdir()
    return path


async def test_a_missing_key_is_not_replaced_while_secrets_wait_for_it(
    lived_in: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    path = key_of(lived_in)
    kept = path.read_bytes()
    path.unlink()
    fault = await refused_boot(lived_in, wall)
    assert fault.exit_code == EXIT_CONFIG
    assert str(fault).startswith("SVC_MASTER_KEY_FILE: ")
    assert str(path) in str(fault)
    assert not path.exists()
    path.write_bytes(kept)
    path.chmod(0o600)
    assert await still_boots(lived_in, wall, log)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
async def test_a_key_that_others_may_read_is_refused(
    lived_in: Path, wall: VirtualClock, log: RecordedLog, mode: int
) -> None:
    path = key_of(lived_in)
    path.chmod(mode)
    fault = await refused_boot(lived_in, wall)
    assert fault.exit_code == EXIT_CONFIG
    assert f"chmod 600 {path}" in str(fault)
    assert path.read_text().strip() not in str(fault)
    path.chmod(0o600)
    assert await still_boots(lived_in, wall, log)


async def test_a_key_in_the_home_that_it_protects_is_refused(tmp_path: Path, wall: VirtualClock) -> None:
    fault = await refused_boot(tmp_path, wall, SVC_MASTER_KEY_FILE=str(tmp_path / "home" / "key"))
    assert fault.exit_code == EXIT_CONFIG
    assert "lies in the home" in str(fault)


async def test_home_and_key_are_nobody_elses(lived_in: Path) -> None:
    for path in [lived_in / "home", *(lived_in / "home").rglob("*"), key_of(lived_in)]:
        assert path.stat().st_mode & 0o077 == 0, path


async def test_the_seeds_of_the_chosen_world_are_planted_in_the_order_of_the_features_once_all_have_booted(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    done: list[str] = []

    def feature(name: str, world: str) -> Feature:
        async def boot(workspace: Workspace) -> None:
            done.append(f"boot {name}")

        async def plant(workspace: Workspace) -> None:
            done.append(f"plant {name}")

        return Feature(name=name, summary="", boot=boot, seeds=(Seed(world=world, plant=plant),))

    def add(workspace: Workspace) -> None:
        workspace.features += (
            feature("first", "mock-world"),
            feature("elsewhere", "another-world"),
            feature("last", "mock-world"),
        )

    async with open_service(tmp_path, clock=wall, log=log, before=add, PROVIDERS="fake", SVC_SEED="mock-world"):
        assert done == ["boot first", "boot elsewhere", "boot last", "plant first", "plant last"]


# How it ends


def post(length: int) -> bytes:
    fields = f"host: {HOST}\r\ncontent-type: application/json\r\ncontent-length: {length}"
    return f"POST /trpc/mail.archive HTTP/1.1\r\n{fields}\r\n\r\n".encode()


async def test_a_drain_finishes_the_request_in_flight_and_lets_nobody_in(service: Service) -> None:
    body = json.dumps({"threadIds": []}).encode()
    stream = await service.listener.connect()
    await stream.send_all(post(len(body)) + body[:5])
    idle = await service.listener.connect()
    await all_quiet()
    service.workspace.root.drain("test")
    with trio.fail_after(ANSWER_DEADLINE_S):
        await service.listener.closed.wait()  # what is in a thread at that moment ends first, in real time
    with pytest.raises(trio.BrokenResourceError):
        await service.listener.connect()
    assert await read_to_end(idle) == b""
    await stream.send_all(body[5:])
    (reply,) = replies(await read_to_end(stream), ["POST"])
    assert (reply.status, reply.json, reply.header("connection")) == (200, {"result": {"data": {}}}, "close")


async def test_a_request_that_does_not_end_is_cut_when_the_drain_is_over(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_DRAIN_SECONDS="3") as service:
        stream = await service.listener.connect()
        await stream.send_all(post(100))
        await all_quiet()
        began = trio.current_time()
        service.workspace.root.drain("test")
        assert await read_to_end(stream) == b""
        assert trio.current_time() - began == pytest.approx(3.0)
    assert log.events()[-1] == "drain.ended"


async def test_a_second_word_cuts_the_drain_short(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake", SVC_DRAIN_SECONDS="100") as service:
        stream = await service.listener.connect()
        await stream.send_all(post(100))
        await all_quiet()
        began = trio.current_time()
        service.workspace.root.drain("first")
        await all_quiet()
        service.workspace.root.drain("second")
        assert await read_to_end(stream) == b""
        assert trio.current_time() - began < 1
    assert "drain.cut_short" in log.events("warning")


async def test_what_was_acknowledged_is_there_at_the_next_boot(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        (thread_id,) = await service.synced("Hello")
        await service.mutate("mail.archive", threadIds=[thread_id])
        before = await service.query("mail.threads", section="skipped")
    assert not (tmp_path / "home" / "db" / "svc.sqlite3-wal").exists()
    async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
        assert await service.query("mail.threads", section="skipped") == before


async def test_a_failing_disk_ends_the_service_and_acknowledges_nothing(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    async def lose_the_disk() -> None:
        async with open_service(tmp_path, clock=wall, log=log, PROVIDERS="fake") as service:
            stream = await service.listener.connect()
            await stream.send_all(post(16))
            await all_quiet()
            service.workspace.store.fail(StoreBroken("the disk is gone"))
            await stream.send_all(b'{"threadIds":[]}')
            (reply,) = replies(await read_to_end(stream), ["POST"])
            assert reply.status in (500, 503)
            assert "disk" not in reply.body.decode()

    with pytest.raises(StoreBroken):
        await lose_the_disk()
    assert "subsystem.crashed" in log.events("error")
