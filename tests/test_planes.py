"""The worker plane: what it runs, and that it can reach neither the database nor a key or secret."""

from __future__ import annotations

import functools
import json
import signal
import subprocess
import sys
import types
from collections.abc import Iterator
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import trio

from svc import landlock
from svc.app import FEATURES, all_settings
from svc.clock import VirtualClock
from svc.config import read_config
from svc.feature import Feature
from svc.nursery import Child, Subsystem, every
from svc.planes import worker_beside
from svc.protocol import Link, Request, Response, json_response
from svc.settings import PORT
from svc.store import Blobs, Home, Keyring, Secrets, Store, Tx
from svc.worker.halves import HALVES
from svc.worker.plane import known_settings, scrubbed_workspace, worker_subsystems
from svc.worker.rows import NO_ROWS, WorkerRows
from svc.workspace import ScrubbedContext, ScrubbedWorkspace, Workspace
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S
from tests.support.process import ServiceProcess, until
from tests.support.service import Service, open_service

TRUSTED = (Store, Blobs, Home, Keyring, Secrets, Tx, Workspace)
ROOT = Path(__file__).parent.parent
TOKEN = "t" * 43


async def _nobody() -> trio.abc.Stream:
    raise OSError("nobody is there")


def planted() -> dict[str, str]:
    """Every secret setting, and a variable that is none of ours."""
    secrets = {
        setting.name: f"canary-{setting.name.lower()}.{'x' * 32}" for setting in all_settings() if setting.secret
    }
    assert secrets
    return {**secrets, "IDP_CLIENT_ID": "id", "SOMEBODY_ELSES_KEY": "canary-elsewhere"}


def reachable(thing: object) -> Iterator[object]:
    """Everything an object holds, at any depth, also in closures. Not modules and classes: those are code."""
    seen: set[int] = set()
    waiting: list[object] = [thing]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | types.ModuleType):
            continue
        seen.add(id(one))
        yield one
        waiting += _held(one)


def _held(one: object) -> list[object]:
    if isinstance(one, dict):
        return [*one.keys(), *one.values()]
    if isinstance(one, list | tuple | set | frozenset):
        return list(one)
    if isinstance(one, types.FunctionType):
        return [cell.cell_contents for cell in one.__closure__ or ()] + list(one.__defaults__ or ())
    if isinstance(one, types.MethodType):
        return [one.__self__, one.__func__]
    if isinstance(one, functools.partial):
        return [one.func, *one.args, *one.keywords.values()]
    slots = [name for kind in type(one).__mro__ for name in getattr(kind, "__slots__", ()) if isinstance(name, str)]
    own = vars(one).values() if hasattr(one, "__dict__") else ()
    return [*own, *(getattr(one, name) for name in slots if name != "__dict__" and hasattr(one, name))]


async def test_nothing_reachable_from_the_scrubbed_workspace_is_a_store_a_key_or_a_secret(
    service: Service, wall: VirtualClock, log: RecordedLog
) -> None:
    environ = planted()
    config = read_config(all_settings(), environ)
    workspace = scrubbed_workspace(config, halves=HALVES, clock=wall, log=log)
    link = Link(connect=_nobody, authority="127.0.0.1", token=TOKEN)
    subsystems = await worker_subsystems(workspace, HALVES, broker=link, control_url="http://127.0.0.1:1")
    texts = []
    for one in reachable([workspace, subsystems]):
        assert not isinstance(one, TRUSTED), type(one)
        if isinstance(one, str | bytes):
            texts.append(one if isinstance(one, str) else one.decode("latin-1"))
    assert not [text for text in texts if "canary" in text]
    assert workspace.config[PORT] == config[PORT]


async def test_what_walks_over_a_workspace_would_find_the_store(service: Service) -> None:
    assert any(isinstance(one, Store) for one in reachable([service.workspace.root, service.workspace]))


def test_a_scrubbed_config_has_no_secret_not_even_for_who_asks_by_name() -> None:
    config = read_config(all_settings(), planted())
    scrubbed = config.scrubbed(all_settings())
    for setting in config.settings:
        if setting.secret:
            with pytest.raises(KeyError):
                scrubbed[setting]
        else:
            assert scrubbed[setting] == config[setting]
            assert scrubbed.source(setting) == config.source(setting)


# mypy reads these: an ignore that is not needed any more fails `make check`.


async def _asks_for_the_store(context: ScrubbedContext, request: Request) -> Response:
    await context.workspace.store.read(lambda tx: None)  # type: ignore[attr-defined]
    context.workspace.secrets  # type: ignore[attr-defined]  # noqa: B018
    context.workspace.blobs  # type: ignore[attr-defined]  # noqa: B018
    return json_response({})


def _trusted_build(workspace: Workspace) -> None:
    workspace.provide(workspace.store)


def _worker_rows_that_mypy_refuses() -> list[object]:
    return [
        WorkerRows(build=_trusted_build),  # type: ignore[arg-type]
        WorkerRows(routes=FEATURES[0].routes),  # type: ignore[arg-type]
    ]


# What runs


async def test_beside_the_trusted_plane_a_half_runs_its_subsystems_and_ends_with_the_drain(
    service: Service, wall: VirtualClock, log: RecordedLog
) -> None:
    given: list[ScrubbedWorkspace] = []

    async def subsystems(workspace: ScrubbedWorkspace) -> list[Subsystem]:
        async def run(child: Child) -> None:
            child.started()
            given.append(workspace)
            await every(60.0, partial(looked, workspace))

        return [Subsystem(name="scratch", run=run)]

    async def looked(workspace: ScrubbedWorkspace) -> None:
        given.append(workspace)

    feature = Feature(name="scratch", summary="", worker=WorkerRows(subsystems=subsystems))
    service.workspace.features = (*service.workspace.features, feature)
    beside = worker_beside(service.workspace, log=log)
    with trio.fail_after(60):
        while True:  # virtual time
            there = service.workspace.root.states().get("worker")
            if there is not None and there.phase == "running":
                break
            await trio.sleep(0.1)
    await service.workspace.root.remove("worker")
    await service.workspace.root.add(beside)
    await trio.sleep(61)
    assert given
    await service.workspace.root.remove("worker")
    assert {state.phase for state in given[0].root.states().values()} == {"stopped"}
    looks = len(given)
    await trio.sleep(120)
    assert len(given) == looks


# What a process of its own loads


LOADED = """
import sys
from svc.worker import process
from svc.worker.halves import HALVES
print(*sys.modules)
"""
OF_THE_TRUSTED_PLANE = ("sqlite3", "sqlite_utils", "cryptography", "joserfc", "httpx2", "svc.store", "svc.app")


def test_a_worker_process_loads_neither_store_nor_keys_nor_a_feature() -> None:
    ran = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = ran.stdout.split()
    features = {f"svc.{feature.name}" for feature in FEATURES}
    assert "svc.worker.executor" in loaded
    assert not [name for name in loaded if name in features or name.startswith(OF_THE_TRUSTED_PLANE)]


def test_the_halves_of_a_worker_process_are_those_that_the_features_name() -> None:
    named = [feature.worker for feature in FEATURES if feature.worker is not NO_ROWS]
    assert sorted(map(id, named)) == sorted(map(id, HALVES))


def test_no_half_reads_a_secret() -> None:
    assert not [setting.name for half in HALVES for setting in half.settings if setting.secret]
    assert not [setting.name for setting in known_settings(HALVES) if setting.secret]


@pytest.mark.thorough
@pytest.mark.parametrize("line", [("serve", "--role", "worker"), ("serve", "--ro=worker")])
def test_however_the_role_is_spelled_a_worker_without_a_token_is_told_so(line: tuple[str, ...], tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "svc", *line], capture_output=True, text=True, check=False, cwd=ROOT, env={}
    )
    assert (ran.returncode, ran.stdout) == (78, "")
    assert ran.stderr.startswith("SVC_INTERNAL_TOKEN: a worker of its own and its web plane know each other by it")


async def test_a_web_plane_is_ready_without_a_worker(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> None:
    async with open_service(tmp_path, clock=wall, log=log, role="web") as service:
        assert "worker" not in service.workspace.root.states()
        assert "internal" in service.workspace.root.states()
        assert (await service.get("/readyz")).json["status"] == "ready"


@pytest.mark.journey
def test_a_web_plane_binds_its_internal_port_and_keeps_it_apart(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path, program=("-m", "svc", "serve", "--role=web")) as process:
        process.start(PROVIDERS="fake")
        port = process.events("internal.listening")[0]["port"]
        token = (process.home / "run" / "internal.token").read_text()
        assert _get(port, "/livez", token) == (200, {"status": "ok"})
        assert _get(port, "/auth/me", token)[0] == 404
        assert process.request("GET", "/internal/livez").status == 404
        assert process.stop() == 0


@pytest.mark.journey
def test_a_worker_of_its_own_holds_no_secret_and_takes_no_part_of_the_home(tmp_path: Path) -> None:
    process = ServiceProcess(tmp_path, program=("-m", "svc", "serve", "--role=worker"), warm=False)
    secrets = {**planted(), "SVC_INTERNAL_TOKEN": TOKEN}
    with process:
        process.spawn(
            SVC_WORKER_URL=":0", **{name: value for name, value in secrets.items() if name != "IDP_CLIENT_ID"}
        )
        until(
            lambda: bool(process.events("worker.listening")),
            what="the worker to listen",
            deadline_s=HANGS_S,
            tell=process.log,
        )
        port = process.events("worker.listening")[0]["port"]
        assert _get(port, "/readyz", TOKEN) == (200, {"status": "ready", "checks": {"engine": "ok"}})
        assert _get(port, "/livez", "another")[0] == 401
        assert process.events("worker.confined")[0]["landlock"] == landlock.version()
        environ = Path(f"/proc/{process.pid}/environ").read_text()
        names = {setting.name for setting in all_settings() if setting.secret} - {"SVC_INTERNAL_TOKEN"}
        assert not [name for name in names if f"{name}=" in environ]
        assert not process.home.exists()
        process.send(signal.SIGTERM)
        assert process.wait() == 0
    assert "canary" not in process.log()


def _get(port: Any, path: str, token: str) -> tuple[int, Any]:
    connection = HTTPConnection("127.0.0.1", int(port), timeout=HANGS_S)
    try:
        connection.request("GET", path, headers={"authorization": f"Bearer {token}"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()
