"""The probes and ``health.ping``: what an orchestrator, and a person with curl, learn about the service."""

from __future__ import annotations

import json
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from threading import Barrier

import pytest
import trio

from svc import __version__
from svc.clock import VirtualClock, rfc3339
from svc.nursery import Child, Root, Subsystem, open_task_group
from svc.store import ReadTx
from svc.store.store import READERS
from tests.quiet import all_quiet
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S
from tests.support.http import read_to_end, replies
from tests.support.service import HOST, Service

PROBES = ("/livez", "/readyz", "/health")


async def test_a_service_that_serves_is_live_and_ready(service: Service) -> None:
    assert json.loads((await service.get("/livez")).body) == {"status": "ok"}
    for path in ("/readyz", "/health"):
        reply = await service.get(path)
        assert reply.status == 200
        assert reply.json == {
            "status": "ready",
            "checks": {"database": "ok", "migrations": "ok", "engine": "ok", "consumers": "ok"},
        }
        assert reply.header("cache-control") == "no-store"


@pytest.mark.parametrize("path", PROBES)
@pytest.mark.parametrize("host", ["10.0.0.7:4780", "evil.example"])
async def test_a_probe_answers_under_any_host(service: Service, path: str, host: str) -> None:
    assert (await service.ask("GET", path, host=host)).status == 200


@pytest.mark.parametrize("path", PROBES)
async def test_head_answers_as_get_does_without_the_body(service: Service, path: str) -> None:
    whole, head = await service.get(path), await service.ask("HEAD", path)
    assert (head.status, head.body) == (200, b"")
    assert head.header("content-length") == str(len(whole.body))
    assert head.header("content-type") == whole.header("content-type")


@pytest.mark.parametrize("path", PROBES)
async def test_a_probe_can_only_be_read(service: Service, path: str) -> None:
    reply = await service.ask("POST", path)
    assert (reply.status, reply.header("allow")) == (405, "GET, HEAD, OPTIONS")


@asynccontextmanager
async def engine_of(
    service: Service, log: RecordedLog, *runs: Callable[[Child], Awaitable[None]], name: str = "part"
) -> AsyncIterator[Root]:
    """The probes look at another engine meanwhile, one that runs these."""
    own, root = service.workspace.root, Root(log=log, rng=random.Random(7))
    service.workspace.root = root
    async with open_task_group() as nursery:
        nursery.start_soon(root.run, [Subsystem(name=f"{name}{i}", run=one) for i, one in enumerate(runs)])
        await all_quiet()
        try:
            yield root
        finally:
            service.workspace.root = own
            nursery.cancel_scope.cancel()


async def never_started(child: Child) -> None:
    await trio.sleep_forever()


async def started(child: Child) -> None:
    child.started()
    await trio.sleep_forever()


async def crashed(child: Child) -> None:
    child.started()
    raise RuntimeError("the part broke")


@pytest.mark.parametrize(("run", "verdict"), [(never_started, "starting"), (crashed, "failed")])
async def test_what_does_not_run_yet_or_any_more_is_not_ready(
    service: Service, log: RecordedLog, run: Callable[[Child], Awaitable[None]], verdict: str
) -> None:
    async with engine_of(service, log, started, run):
        reply = await service.get("/readyz")
    assert reply.status == 503
    checks = {"database": "ok", "migrations": "ok", "engine": verdict, "consumers": "ok"}
    assert reply.json == {"status": verdict, "checks": checks}


async def test_a_database_that_does_not_answer_is_not_ready(service: Service) -> None:
    store = service.workspace.store
    moved = Barrier(READERS, action=partial(os.rename, store.path, store.path.with_name("moved")))

    def lose_the_connection(tx: ReadTx) -> None:
        moved.wait(HANGS_S)
        raise ZeroDivisionError

    async def read_and_fail() -> None:
        with suppress(ZeroDivisionError):
            await store.read(lose_the_connection)

    async with open_task_group() as nursery:  # every reader there can be at once: none is left that is open already
        for _ in range(READERS):
            nursery.start_soon(read_and_fail)
    reply = await service.get("/readyz")
    assert (reply.status, reply.json["status"]) == (503, "failed")
    assert reply.json["checks"]["database"] == "failed"
    assert str(store.path) not in reply.body.decode()
    assert (await service.get("/livez")).status == 200
    assert "health.check_failed" in service.log.events("error")


async def test_one_accounts_crash_is_not_the_services(service: Service, log: RecordedLog) -> None:
    async with engine_of(service, log, crashed, name="mail:acc_"):
        assert (await service.get("/readyz")).status == 200


async def test_liveness_does_not_ask_for_readiness(service: Service, log: RecordedLog) -> None:
    async with engine_of(service, log, never_started):
        assert (await service.get("/livez")).status == 200


async def test_a_draining_service_says_so_to_who_was_already_asking(service: Service) -> None:
    stream = await service.listener.connect()
    await stream.send_all(b"GET /readyz HTTP/1.1\r\n")
    await all_quiet()
    service.workspace.root.drain("test")
    await service.listener.closed.wait()
    await stream.send_all(f"host: {HOST}\r\n\r\n".encode())
    (reply,) = replies(await read_to_end(stream))
    assert (reply.status, reply.json["status"]) == (503, "draining")
    assert reply.header("connection") == "close"


async def test_ping_tells_version_and_time(service: Service, wall: VirtualClock) -> None:
    before = rfc3339(wall.now())
    answer = await service.query("health.ping")
    assert answer == {"ok": True, "version": __version__, "time": answer["time"]}
    assert before <= answer["time"] <= rfc3339(wall.now())
