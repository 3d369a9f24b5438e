"""A hosted cell between the real escrow service, on PostgreSQL, and a key-management service that checks contexts."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from svc import commands
from svc.app import BootFault, all_settings, workspace_of
from svc.capabilities import EscrowKeys, EscrowRefused
from svc.capabilities.broker import Broker
from svc.clock import WallClock
from svc.config import Config, read_config
from svc.identity import Identity
from svc.protocol import Headers, Request, Response, json_response
from svc.settings import HOST
from svc.workspace import Workspace
from tests.capabilities.escrow.cells import config_of, keys_of
from tests.capabilities.escrow.stubs import stub
from tests.control_plane.replicas import Replica, entry, replicas, token
from tests.control_plane.replicas import config_of as plane_config
from tests.peers.moto import Kms, kms
from tests.peers.needs import KMS, POSTGRES, need, needs
from tests.peers.postgres import Postgres, postgres
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S

pytestmark = [pytest.mark.peer, pytest.mark.wall_clock, needs(POSTGRES, KMS)]


@dataclass(frozen=True, kw_only=True)
class Fleet:
    server: Postgres
    kms: Kms
    key: str


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    need(POSTGRES, KMS)
    with postgres() as server, kms() as service:
        yield Fleet(server=server, kms=service, key=service.create_key())


def cell(fleet: Fleet, escrow: str, home: Path, name: str, **more: str) -> Config:
    """The settings of a cell of the tenant ``tenant-<name>``."""
    known = {
        "SVC_TENANT_ID": f"tenant-{name}",
        "SVC_KMS_KEY_ID": fleet.key,
        "SVC_KEY_ESCROW_TOKEN": token(name),
        "SVC_CLAIM_TOKEN": "c" * 40,
    }
    return config_of(home, escrow=escrow, kms=fleet.kms.url, **known | more)


def material(keys: EscrowKeys) -> bytes:
    return keys.load(may_create=False).current.material


async def test_two_cells_that_boot_first_at_once_have_one_key_and_a_lost_disk_gets_it_again(
    fleet: Fleet, tmp_path: Path, log: RecordedLog
) -> None:
    plane = plane_config(fleet.server.url, [entry("twin")])
    async with replicas(plane, plane, log=log) as both:
        found = []

        async def boot(number: int) -> None:
            home = tmp_path / f"home-{number}"
            keys = keys_of(cell(fleet, both[number % 2].url, home, "twin"), home)
            await keys.fetch(may_create=True)
            found.append(material(keys))

        async with trio.open_nursery() as nursery:
            for number in range(6):
                nursery.start_soon(boot, number)
        await boot(7)  # later, with an empty disk
        assert len(found) == 7
        assert len(set(found)) == 1
        rows = fleet.server.run(
            "select version, wrapped_key, context from control_plane.wrapped_keys where tenant_id = 'tenant-twin'"
        )
        assert [row[0] for row in rows] == [1]
        assert rows[0][2] == {"svc:tenant": "tenant-twin", "svc:cell": "cell-twin", "svc:purpose": "master-key"}
        home = tmp_path / "stranger"
        stranger = keys_of(cell(fleet, both[0].url, home, "twin", SVC_TENANT_ID="tenant-else"), home)
        with pytest.raises(EscrowRefused, match="no key of the tenant 'tenant-else'"):
            await stranger.fetch(may_create=False)


async def test_a_rotation_is_a_new_version_that_all_boots_get_and_only_one_of_two_is_made(
    fleet: Fleet, tmp_path: Path, log: RecordedLog
) -> None:
    home, other_key = tmp_path / "home", fleet.kms.create_key()
    home.mkdir()
    async with replicas(plane_config(fleet.server.url, [entry("turn")]), log=log) as (replica,):
        config = cell(fleet, replica.url, home, "turn")
        keys, beside = keys_of(config, home), keys_of(config, home)
        await keys.fetch(may_create=True)
        await beside.fetch(may_create=False)
        first = keys.load(may_create=False)
        await trio.to_thread.run_sync(keys.replace, first.renewed())
        with pytest.raises(EscrowRefused, match="another process has replaced version 1"):
            await trio.to_thread.run_sync(beside.replace, first.renewed())
        again = keys_of(config, home)
        await again.fetch(may_create=False)
        assert again.load(may_create=False).keys == keys.load(may_create=False).keys
        assert again.load(may_create=False).find(first.current.id) is not None

        again.wrap_by(other_key)
        await trio.to_thread.run_sync(again.replace, again.load(may_create=False).current_only())
        with pytest.raises(EscrowRefused, match="was wrapped by"):
            await keys_of(config, home).fetch(may_create=False)
        moved = keys_of(cell(fleet, replica.url, home, "turn", SVC_KMS_KEY_ID=other_key), home)
        await moved.fetch(may_create=False)
        assert material(moved) == material(again) != first.current.material


async def test_a_tenant_that_moved_to_another_cell_is_wrapped_for_that_one_from_its_next_rotation_on(
    fleet: Fleet, tmp_path: Path, log: RecordedLog
) -> None:
    plane = plane_config(fleet.server.url, [entry("old"), entry("new", tenant="tenant-old")])
    async with replicas(plane, log=log) as (replica,):
        tenant, home = {"SVC_TENANT_ID": "tenant-old"}, tmp_path / "home"
        home.mkdir()
        pinned = keys_of(cell(fleet, replica.url, home, "old", SVC_CELL_ID="cell-else"), home)
        with pytest.raises(EscrowRefused, match="SVC_CELL_ID: the credential is that of the cell 'cell-old'"):
            await pinned.fetch(may_create=True)
        assert fleet.server.run("select 1 from control_plane.wrapped_keys where tenant_id = 'tenant-old'") == []
        await keys_of(cell(fleet, replica.url, home, "old"), home).fetch(may_create=True)
        moved = keys_of(cell(fleet, replica.url, home, "new", **tenant), home)
        await moved.fetch(may_create=True)
        renewed = moved.load(may_create=False).renewed()
        await trio.to_thread.run_sync(moved.replace, renewed)
        again = keys_of(cell(fleet, replica.url, home, "new", **tenant, SVC_CELL_ID="cell-new"), home)
        await again.fetch(may_create=False)
        assert again.load(may_create=False).keys == renewed.keys


async def test_what_was_wrapped_for_another_tenant_does_not_open(
    fleet: Fleet, tmp_path: Path, log: RecordedLog
) -> None:
    """Whoever can write to the database of the escrow service gives one tenant the key of another."""
    async with replicas(plane_config(fleet.server.url, [entry("ann"), entry("bob")]), log=log) as (replica,):
        for name in ("ann", "bob"):
            home = tmp_path / name
            await keys_of(cell(fleet, replica.url, home, name), home).fetch(may_create=True)
        fleet.server.run(
            """
            insert into control_plane.wrapped_keys
            select a.tenant_id, 2, b.wrapped_key, a.kms_key_id, a.context, a.credential_id
            from control_plane.wrapped_keys a, control_plane.wrapped_keys b
            where a.tenant_id = 'tenant-ann' and b.tenant_id = 'tenant-bob'
            """
        )
        home = tmp_path / "ann"
        with pytest.raises(EscrowRefused, match="does not open with this tenant's encryption context"):
            await keys_of(cell(fleet, replica.url, home, "ann"), home).fetch(may_create=False)
        assert not home.exists()


async def test_a_cell_killed_between_wrap_and_store_has_made_nothing_and_boots_the_next_time(
    fleet: Fleet, tmp_path: Path, log: RecordedLog
) -> None:
    home = tmp_path / "home"
    started: list[trio.Process] = []

    def kill(request: Request, body: Any) -> Response:
        if request.method == "PUT":
            started[0].kill()
        return json_response({"cellId": "cell-cut"}, status=404)

    async with stub(kill, log=log) as escrow:
        config = cell(fleet, escrow.url, home, "cut")
        environ = {name: os.environ[name] for name in ("PATH",)} | dict(config.environ)
        environ |= {"SVC_PORT": "0", "SVC_INTERNAL_PORT": "0"}
        command = [sys.executable, "-m", "svc", "serve"]
        started.append(await trio.lowlevel.open_process(command, env=environ, stderr=subprocess.DEVNULL))
        with trio.fail_after(HANGS_S):
            assert await started[0].wait() == -signal.SIGKILL
        assert [asked[0] for asked in escrow.asked] == ["GET", "PUT"]
    assert not home.exists()
    async with replicas(plane_config(fleet.server.url, [entry("cut")]), log=log) as (replica,):
        await _boots_with_a_secret(fleet, replica, home, log)


async def _boots_with_a_secret(fleet: Fleet, replica: Replica, home: Path, log: RecordedLog) -> None:
    """The whole workspace, twice: what the first boot encrypts, the second reads; no key lies on the disk."""
    config = cell(fleet, replica.url, home, "cut", XDG_CONFIG_HOME=str(home.parent / "config"))
    boot = partial(workspace_of, config, clock=WallClock(), log=log, rng=random.Random(1), environ=config.environ)
    async with boot() as workspace:
        _nobody_is_near(workspace)
        secrets = workspace.service(Broker).secrets
        workspace.store.write_now(secrets.write, "llm.a", b"a secret")
    async with boot() as workspace:
        assert workspace.store.read_now(workspace.service(Broker).secrets.read, "llm.a") == b"a secret"
    keys = keys_of(config, home)
    await keys.fetch(may_create=False)
    key = material(keys)
    for path in home.parent.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert key not in content
            assert key.hex().encode() not in content


def _nobody_is_near(workspace: Workspace) -> None:
    """A proxy that hands on bytes adds no header, and a stranger names any host: no request claims a public cell."""
    assert workspace.config[HOST] == "127.0.0.1"
    request = Request(method="GET", target="/", headers=Headers([("host", "127.0.0.1:4780")]), peer="127.0.0.1")
    assert not workspace.service(Identity).is_near(request)


async def test_a_local_home_takes_its_key_along_and_the_doctor_knows_it(
    fleet: Fleet, tmp_path: Path, log: RecordedLog, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home, key_file = tmp_path / "home", tmp_path / "key"
    local = read_config(all_settings(), {"SVC_HOME": str(home), "SVC_MASTER_KEY_FILE": str(key_file)})
    boot = partial(workspace_of, clock=WallClock(), log=log, rng=random.Random(1), environ=local.environ)
    async with boot(local) as workspace:
        workspace.store.write_now(workspace.service(Broker).secrets.write, "llm.a", b"a secret")
    async with replicas(plane_config(fleet.server.url, [entry("moved")]), log=log) as (replica,):
        config = cell(fleet, replica.url, home, "moved", SVC_MASTER_KEY_FILE=str(key_file))
        for name, value in config.environ.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(BootFault, match="was not made with a new one"):
            async with boot(config):
                pass
        assert await trio.to_thread.run_sync(commands.run, "secrets escrow", {}) == 0
        assert await trio.to_thread.run_sync(commands.run, "secrets escrow", {}) == 1
        said = capsys.readouterr()
        assert "as version 1" in said.out
        assert "has a key of this tenant already" in said.err
        key_file.unlink()
        async with boot(config) as workspace:
            assert workspace.store.read_now(workspace.service(Broker).secrets.read, "llm.a") == b"a secret"
        await trio.to_thread.run_sync(commands.run, "doctor", {"json": False})
        assert "opens all 1 secrets" in capsys.readouterr().out
        rotate = {"forget_old": True, "kms_key": None}
        assert await trio.to_thread.run_sync(commands.run, "secrets rotate", rotate) == 0
        async with boot(config) as workspace:
            assert workspace.store.read_now(workspace.service(Broker).secrets.read, "llm.a") == b"a secret"
    found = fleet.server.run("select max(version) from control_plane.wrapped_keys where tenant_id = 'tenant-moved'")
    assert found == [(3,)]
