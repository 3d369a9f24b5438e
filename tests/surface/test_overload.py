"""More connections than the service takes: they are told so, while the liveness probe is still answered."""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest
import trio

from svc.clock import VirtualClock
from svc.doors import Shortage, ToTheLast
from svc.surface import Surface
from svc.surface.overload import RESERVED_CONNECTIONS
from svc.workspace import Workspace
from tests.quiet import all_quiet
from tests.recorded_log import RecordedLog
from tests.sizes import HANGS_S
from tests.support.http import SECURITY, read_to_end, replies
from tests.support.service import Service, open_service

BOUND = 3


@pytest.fixture
async def small(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> AsyncIterator[Service]:
    def tighten(workspace: Workspace) -> None:
        workspace.service(Surface).max_connections = BOUND

    async with open_service(tmp_path, clock=wall, log=log, before=tighten, PROVIDERS="fake") as opened:
        yield opened


async def taken(service: Service, count: int) -> list[trio.abc.HalfCloseableStream]:
    """So many connections that ask nothing."""
    found = [await service.listener.connect() for _ in range(count)]
    await all_quiet()
    return found


async def let_go(streams: list[trio.abc.HalfCloseableStream]) -> None:
    for stream in streams:
        await stream.aclose()
    await all_quiet()


async def test_beyond_the_bound_one_is_told_to_come_back(small: Service) -> None:
    idle = await taken(small, BOUND)
    reply = await small.get("/auth/me")
    assert (reply.status, reply.json["code"], reply.header("retry-after")) == (503, "unavailable", "5")
    assert reply.header("connection") == "close"
    rpc = await small.get("/trpc/health.ping")
    assert (rpc.status, rpc.json["error"]["data"]["httpStatus"], rpc.header("retry-after")) == (503, 503, "5")
    socket = await small.socket()
    assert socket.status == 503
    await let_go(idle)
    assert (await small.get("/auth/me")).status == 200


async def test_the_probe_of_liveness_is_answered_all_the_same(small: Service) -> None:
    idle = await taken(small, BOUND)
    reply = await small.get("/livez")
    assert (reply.status, reply.json) == (200, {"status": "ok"})
    await let_go(idle)


async def test_beyond_the_reserve_too_the_answer_is_a_503_before_a_word_was_said(small: Service) -> None:
    idle = await taken(small, BOUND + RESERVED_CONNECTIONS)
    late = await small.listener.connect()
    said = b""
    with trio.fail_after(5):
        while piece := await late.receive_some():
            said += piece
    assert said.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b"retry-after: 5" in said
    reply = replies(said)[0]
    assert {name: reply.header(name) for name in SECURITY} == SECURITY
    assert reply.header("date") == "Tue, 27 Oct 2026 08:00:00 GMT"
    assert len(reply.header("x-request-id") or "") == 16
    assert reply.json["code"] == "unavailable"
    await late.aclose()
    await let_go(idle)


async def test_a_reserved_place_is_held_for_a_moment_only(small: Service) -> None:
    idle = await taken(small, BOUND + RESERVED_CONNECTIONS)
    await trio.sleep(2)  # whoever says nothing there is gone by now
    assert (await small.get("/livez")).status == 200
    await let_go(idle)


async def test_the_log_says_when_it_begins_and_when_it_is_over_however_many_come(
    small: Service, log: RecordedLog
) -> None:
    idle = await taken(small, BOUND)
    await let_go(await taken(small, RESERVED_CONNECTIONS + 20))
    await let_go(idle)
    await trio.sleep(60)
    assert (await small.get("/auth/me")).status == 200
    told = [one for one in log.records if str(one["event"]).startswith("http.too_many_connections")]
    assert [one["event"] for one in told] == ["http.too_many_connections", "http.too_many_connections_over"]
    assert [(one.get("count"), one["turned_away"]) for one in told] == [(None, False), (RESERVED_CONNECTIONS + 20, 20)]


class _Full(trio.abc.Listener[trio.SocketStream]):
    """A port of a process that has no descriptor left for so many attempts."""

    def __init__(self, attempts: int, stream: object) -> None:
        self.attempts = attempts
        self._stream = stream

    async def accept(self) -> trio.SocketStream:
        await trio.lowlevel.checkpoint()
        if self.attempts:
            self.attempts -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return cast(trio.SocketStream, self._stream)

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


async def test_a_port_without_descriptors_pauses_and_says_so_once(log: RecordedLog) -> None:
    shortage, stream = Shortage(log), object()
    was_recent = [shortage.is_recent]
    port = ToTheLast(cast(trio.SocketListener, _Full(50, stream)), lambda _: None, shortage)
    began = trio.current_time()
    assert await port.accept() is stream
    assert trio.current_time() - began == pytest.approx(5.0)  # it is no busy loop
    assert [one.get("reason") for one in log.records if one["event"] == "http.no_descriptors"] == ["EMFILE"]
    was_recent.append(shortage.is_recent)
    await trio.sleep(60)
    assert [*was_recent, shortage.is_recent] == [False, True, False]
    broken = ToTheLast(cast(trio.SocketListener, _Broken(0, stream)), lambda _: None, shortage)
    with pytest.raises(OSError, match="not a socket"):
        await broken.accept()


class _Broken(_Full):
    async def accept(self) -> trio.SocketStream:
        await trio.lowlevel.checkpoint()
        raise OSError(errno.ENOTSOCK, "not a socket")


async def test_readyz_tells_of_missing_descriptors_for_a_minute(small: Service) -> None:
    assert "descriptors" not in (await small.get("/readyz")).json["checks"]
    assert small.workspace.service(Surface).shortage.explains(OSError(errno.EMFILE, ""))
    told = await small.get("/readyz")
    assert (told.status, told.json["checks"]["descriptors"]) == (200, "exhausted")
    await trio.sleep(60)
    assert "descriptors" not in (await small.get("/readyz")).json["checks"]


@pytest.mark.wall_clock
async def test_behind_hypercorn_one_beyond_the_bound_is_told_the_same(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    def tighten(workspace: Workspace) -> None:
        surface = workspace.service(Surface)
        surface.max_connections, surface.front = 1, "hypercorn"

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    asked = f"GET /livez HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n\r\n".encode()

    async def ask(stream: trio.SocketStream) -> bytes:
        await stream.send_all(asked)
        return await read_to_end(stream)

    async with open_service(
        tmp_path, clock=wall, log=log, listeners=listeners, before=tighten, PROVIDERS="fake"
    ) as service:
        surface = service.workspace.service(Surface)
        with trio.fail_after(HANGS_S):
            first = await trio.open_tcp_stream("127.0.0.1", port)
            while surface.open_connections == 0:
                await trio.lowlevel.checkpoint()
            told = await ask(await trio.open_tcp_stream("127.0.0.1", port))
            assert told.startswith(b"HTTP/1.1 503 ")
            assert b"\r\nretry-after: 5\r\n" in told
            assert (await ask(first)).startswith(b"HTTP/1.1 200 ")
            await first.aclose()
            while surface.open_connections:
                await trio.lowlevel.checkpoint()
            assert (await ask(await trio.open_tcp_stream("127.0.0.1", port))).startswith(b"HTTP/1.1 200 ")
