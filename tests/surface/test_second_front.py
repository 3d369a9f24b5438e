"""What a start of the second front wants, and which faults of TLS it tells. What it serves is tried in a browser
(`tests/web/test_app_journey.py`) and beside our own front (`tests/surface/test_both_fronts.py`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import pytest
import trio
from cryptography.hazmat.primitives import serialization
from trio.testing import wait_all_tasks_blocked
from wsproto import ConnectionType
from wsproto.connection import Connection, ConnectionState
from wsproto.events import CloseConnection

from svc import preflight
from svc.app import all_rules, all_settings
from svc.config import Config, ConfigError, read_config
from svc.doors import Shortage
from svc.listening import Front
from svc.nursery import Child
from svc.preflight import serve_rules
from svc.protocol import Limits, Request, Response, SocketLimits
from svc.settings import canonical_origin
from svc.surface.hypercorn_front import serve_by_hypercorn
from tests.sizes import HANGS_S
from tests.support.certificates import self_signed
from tests.support.http import SmallApplication, Who, read_to_end, replies, request_bytes


def read(tmp_path: Path, front: Front, **settings: str) -> Config:
    environ = {"HOME": str(tmp_path), "SVC_PORT": "0", "PROVIDERS": "fake", **settings}
    return read_config(all_settings(), environ, (*all_rules(), *serve_rules("all", front)))


def faults(tmp_path: Path, front: Front, **settings: str) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, front, **settings)
    return [(fault.name, fault.problem) for fault in caught.value.faults]


def test_with_a_certificate_the_origin_is_https(tmp_path: Path) -> None:
    pem = str(self_signed(tmp_path, "localhost"))
    config = read(tmp_path, "hypercorn", SVC_TLS_CERT_FILE=pem, SVC_TLS_KEY_FILE=pem)
    assert canonical_origin(config, port=4780) == "https://127.0.0.1:4780"
    assert canonical_origin(config, port=443) == "https://127.0.0.1"
    plain = read(tmp_path, "hypercorn")
    assert canonical_origin(plain, port=443) == "http://127.0.0.1:443"
    assert canonical_origin(plain, port=80) == "http://127.0.0.1"


def test_our_own_front_says_that_it_speaks_no_tls(tmp_path: Path) -> None:
    pem = str(self_signed(tmp_path, "localhost"))
    told = faults(tmp_path, "own", SVC_TLS_CERT_FILE=pem, SVC_TLS_KEY_FILE=pem)
    assert told == [("SVC_TLS_CERT_FILE", "our own front speaks no TLS")]


def test_a_certificate_and_its_key_come_together(tmp_path: Path) -> None:
    pem = str(self_signed(tmp_path, "localhost"))
    assert faults(tmp_path, "hypercorn", SVC_TLS_CERT_FILE=pem) == [("SVC_TLS_KEY_FILE", "the certificate has no key")]
    assert faults(tmp_path, "hypercorn", SVC_TLS_KEY_FILE=pem) == [("SVC_TLS_CERT_FILE", "the key has no certificate")]


def test_a_key_that_can_not_be_used_is_told_before_anything_is_opened(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    one, other = self_signed(tmp_path / "one", "localhost"), self_signed(tmp_path / "other", "localhost")
    locked = tmp_path / "locked.pem"
    key = serialization.load_pem_private_key(one.read_bytes(), password=None)
    secret = serialization.BestAvailableEncryption(b"a word")
    locked.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret))
    for wrong in (other, locked, tmp_path / "missing.pem"):
        ((name, problem),) = faults(tmp_path, "hypercorn", SVC_TLS_CERT_FILE=str(one), SVC_TLS_KEY_FILE=str(wrong))
        assert name in {"SVC_TLS_CERT_FILE", "SVC_TLS_KEY_FILE"}
        assert problem


def test_without_the_extra_it_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "find_spec", lambda name: None)
    assert faults(tmp_path, "hypercorn") == [("--front", "Hypercorn is not installed")]
    read(tmp_path, "own")


KEY: Final = "dGhlIHNhbXBsZSBub25jZQ=="
PATIENT: Final = Limits(idle_s=10 * HANGS_S, drain_idle_s=0.1)
BIG: Final = 1_000_000
"""Bytes of `/big`."""
UPGRADE: Final = {"upgrade": "websocket", "connection": "Upgrade", "sec_websocket_version": "13"}


async def ignore_all_that_comes(app: SmallApplication, who: Who, request: Request) -> Response:
    """Answers once as much of the body has come as comes unread."""
    await wait_all_tasks_blocked(0.05)
    return Response(body=b"ignored")


@asynccontextmanager
async def served(
    tmp_path: Path, *, limits: Limits | None = None
) -> AsyncIterator[tuple[SmallApplication, trio.Semaphore, trio.Event]]:
    """A small application behind Hypercorn without a limit on idle time and with a single ping."""
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    app = SmallApplication(port=listeners[0].socket.getsockname()[1])
    slots, draining = trio.Semaphore(3), trio.Event()
    with trio.fail_after(HANGS_S):
        async with trio.open_nursery() as nursery:
            child = Child(name="http", log=app.log, work=nursery, ready=lambda: None, drain_asked=draining)
            nursery.start_soon(
                partial(
                    serve_by_hypercorn,
                    child,
                    listeners,
                    app.application,
                    config=read(tmp_path, "hypercorn"),
                    slots=slots,
                    shortage=Shortage(app.log),
                    limits=limits or PATIENT,
                    sockets=SocketLimits(ping_interval_s=10 * HANGS_S),
                )
            )
            yield app, slots, draining
            nursery.cancel_scope.cancel()


async def answered(app: SmallApplication, target: str, status: bytes, **fields: str) -> trio.SocketStream:
    stream = await trio.open_tcp_stream("127.0.0.1", app.port)
    await stream.send_all(request_bytes("GET", target, **{"host": f"127.0.0.1:{app.port}", **fields}))
    said = b""
    while b"\r\n\r\n" not in said:
        said += await stream.receive_some()
    assert said.startswith(b"HTTP/1.1 " + status), said
    return stream


async def all_free(slots: trio.Semaphore) -> None:
    while slots.value < 3:
        await trio.lowlevel.checkpoint()


@pytest.mark.wall_clock
async def test_who_is_gone_holds_no_place(tmp_path: Path) -> None:
    async with served(tmp_path) as (app, slots, _):
        kept = await answered(app, "/hello", b"200")
        live = await answered(app, "/ws", b"101", x_as="admin", sec_websocket_key=KEY, **UPGRADE)
        assert slots.value == 1
        await kept.aclose()
        await live.aclose()
        await all_free(slots)


@pytest.mark.wall_clock
async def test_who_sends_more_than_anybody_reads_holds_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SmallApplication, "ignore", ignore_all_that_comes)
    async with served(tmp_path) as (app, slots, _), trio.open_nursery() as client:
        stream = await trio.open_tcp_stream("127.0.0.1", app.port)
        fields = {"host": f"127.0.0.1:{app.port}", "content_length": str(10 * BIG)}

        async def send() -> None:
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await stream.send_all(request_bytes("POST", "/ignore", **fields) + b"x" * 10 * BIG)

        client.start_soon(send)
        await read_to_end(stream)
        await stream.aclose()
        await all_free(slots)


@pytest.mark.wall_clock
async def test_a_drain_waits_for_no_socket_whose_client_says_goodbye(tmp_path: Path) -> None:
    async with served(tmp_path) as (app, slots, draining):
        live = await answered(app, "/ws", b"101", x_as="admin", sec_websocket_key=KEY, **UPGRADE)
        draining.set()
        client = Connection(ConnectionType.CLIENT)
        while client.state is not ConnectionState.CLOSED:
            client.receive_data(await live.receive_some())
            for event in client.events():
                if isinstance(event, CloseConnection):
                    assert event.code == 1001
                    await live.send_all(client.send(event.response()))
        await all_free(slots)


@pytest.mark.thorough
@pytest.mark.wall_clock
async def test_on_drain_a_kept_connection_may_ask_once_more_and_the_others_close(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(PATIENT, drain_idle_s=3.0)) as (app, slots, draining):
        asks, silent = await answered(app, "/hello", b"200"), await answered(app, "/hello", b"200")
        draining.set()
        await wait_all_tasks_blocked()
        again = request_bytes("GET", "/hello", host=f"127.0.0.1:{app.port}")
        await asks.send_all(again)
        told = await read_to_end(asks)
        (reply,) = replies(told[told.index(b"HTTP/1.1 ") :])
        assert (reply.status, reply.header("connection")) == (200, "close")
        assert [name for name, _ in reply.headers].count("date") == 1
        assert b"HTTP/1.1" not in await read_to_end(silent)
        await all_free(slots)


@pytest.mark.wall_clock
async def test_who_reads_nothing_of_an_answer_loses_the_connection(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(PATIENT, send_piece_s=0.05)) as (app, slots, _):
        stream = await trio.open_tcp_stream("127.0.0.1", app.port)
        for _ in range(20):
            await stream.send_all(request_bytes("GET", "/big", host=f"127.0.0.1:{app.port}"))
        while slots.value == 3:
            await trio.lowlevel.checkpoint()
        await all_free(slots)


@pytest.mark.wall_clock
async def test_the_end_of_the_drain_waits_for_one_piece_of_an_answer_and_not_for_all(tmp_path: Path) -> None:
    told = b""

    async def read_on() -> None:
        nonlocal told
        told = await read_to_end(stream)

    limits = replace(PATIENT, send_piece_bytes=8 * 1024)
    async with trio.open_nursery() as client, served(tmp_path, limits=limits) as (app, _, _):
        stream = await trio.open_tcp_stream("127.0.0.1", app.port)
        for _ in range(100):
            await stream.send_all(request_bytes("GET", "/big", host=f"127.0.0.1:{app.port}"))
        await wait_all_tasks_blocked(0.05)  # the server waits for a client that reads nothing
        client.start_soon(read_on)
    last = told.rpartition(b"\r\n\r\n")[2]
    assert 0 < len(last) < BIG


@pytest.mark.wall_clock
async def test_a_head_that_does_not_end_is_cut_also_on_a_kept_connection(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(PATIENT, head_s=0.05, linger_silence_s=0.05)) as (app, slots, _):
        fresh = await trio.open_tcp_stream("127.0.0.1", app.port)
        kept = await answered(app, "/hello", b"200")
        for stream in (fresh, kept):
            await stream.send_all(b"GET /hello HTTP/1.1\r\nHost: ")
            told = await read_to_end(stream)
            (reply,) = replies(told[told.index(b"HTTP/1.1 ") :])
            assert (reply.status, reply.header("connection")) == (408, "close")
            assert reply.json["code"] == "request_timeout"
        await all_free(slots)


HOST: Final = "Host: 127.0.0.1\r\n"
SMUGGLED: Final = "GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
REFUSED: Final = {
    "two framings": (f"POST /upload HTTP/1.1\r\n{HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    "a bare line feed": (f"GET /hello HTTP/1.1\r\n{HOST}A: b\nC: d\r\n\r\n", 400),
    "a folded field": (f"GET /hello HTTP/1.1\r\n{HOST}A: b\r\n c\r\n\r\n", 400),
    "two hosts": (f"GET /hello HTTP/1.1\r\n{HOST}Host: b\r\n\r\n", 400),
    "a coding that nobody knows": (f"POST /upload HTTP/1.1\r\n{HOST}Transfer-Encoding: gzip\r\n\r\n", 501),
    "a long target": (f"GET /{'x' * PATIENT.target_bytes} HTTP/1.1\r\n{HOST}\r\n", 414),
    "many fields": (f"GET /hello HTTP/1.1\r\n{HOST}" + "A: b\r\n" * PATIENT.head_fields + "\r\n", 431),
    "a long field": (f"GET /hello HTTP/1.1\r\n{HOST}A: {'x' * PATIENT.head_bytes}\r\n\r\n", 431),
}


@pytest.mark.wall_clock
@pytest.mark.parametrize(("head", "status"), REFUSED.values(), ids=REFUSED)
async def test_a_head_is_as_strictly_read_as_on_our_own_connection(tmp_path: Path, head: str, status: int) -> None:
    async with served(tmp_path, limits=replace(PATIENT, linger_silence_s=0.05)) as (app, slots, _):
        stream = await trio.open_tcp_stream("127.0.0.1", app.port)
        await stream.send_all((head + SMUGGLED).encode())
        (reply,) = replies(await read_to_end(stream), ("GET", "GET"))
        assert (reply.status, reply.header("connection")) == (status, "close")
        assert reply.header("content-type") == "application/problem+json"
        assert app.seen == []
        await all_free(slots)


FIRST: Final = "GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
AFTER: Final = {
    **{name: (FIRST, head, status) for name, (head, status) in REFUSED.items()},
    "a version that nobody speaks": (FIRST, f"GET /hello HTTP/1.3\r\n{HOST}\r\n", 505),
    "after a body": (
        f"POST /upload HTTP/1.1\r\n{HOST}Content-Length: 5\r\n\r\nhello",
        f"GET /hello HTTP/1.1\r\n{HOST}A: b\nContent-Length: 45\r\n\r\n",
        400,
    ),
}


@pytest.mark.wall_clock
@pytest.mark.parametrize("ahead", [0, 1, None], ids=["after the answer", "one byte", "together"])
@pytest.mark.parametrize(("first", "second", "status"), AFTER.values(), ids=AFTER)
async def test_a_next_head_is_as_strictly_read_however_early_it_comes(
    tmp_path: Path, first: str, second: str, status: int, ahead: int | None
) -> None:
    async with served(tmp_path, limits=replace(PATIENT, linger_silence_s=0.05)) as (app, slots, _):
        stream = await trio.open_tcp_stream("127.0.0.1", app.port)
        rest = (second + SMUGGLED).encode()
        early = len(rest) if ahead is None else ahead
        await stream.send_all(first.encode() + rest[:early])
        await wait_all_tasks_blocked(0.01)
        if rest[early:]:
            await stream.send_all(rest[early:])
        answered, refused = replies(await read_to_end(stream), ("GET", "GET"))
        assert (answered.status, refused.status, refused.header("connection")) == (200, status, "close")
        assert len([one for one in app.seen if one != "resolve"]) == 1
        await all_free(slots)


@pytest.mark.wall_clock
async def test_no_request_asks_its_way_to_http2_past_a_proxy(tmp_path: Path) -> None:
    async with served(tmp_path) as (app, _, _):
        wish = {"upgrade": "h2c", "connection": "Upgrade, HTTP2-Settings", "http2_settings": "AAMAAABkAAQAAP__"}
        await answered(app, "/hello", b"200", **wish)


@pytest.mark.wall_clock
@pytest.mark.parametrize("cut", [0, 2, 4])
async def test_one_empty_line_before_a_head_is_passed_over(tmp_path: Path, cut: int) -> None:
    async with served(tmp_path) as (app, _, _):
        stream = await trio.open_tcp_stream("127.0.0.1", app.port)
        data = f"\r\nGET /hello HTTP/1.1\r\n{HOST}Connection: close\r\n\r\n".encode()
        await stream.send_all(data[:cut])
        await wait_all_tasks_blocked(0.01)
        await stream.send_all(data[cut:])
        (reply,) = replies(await read_to_end(stream), ("GET", "GET"))
        assert reply.status == 200


@pytest.mark.wall_clock
async def test_heads_may_come_cut_anywhere_and_two_at_a_time(tmp_path: Path) -> None:
    async with served(tmp_path) as (app, _, _):
        fields = {"host": f"127.0.0.1:{app.port}"}
        first = request_bytes("GET", "/hello", **fields)
        rest = first + request_bytes("GET", "/hello", **fields, connection="close")
        stream = await trio.open_tcp_stream("127.0.0.1", app.port)
        cuts = (*range(1, len(first)), len(first) + 10, len(first) + 20)
        for start, end in zip((0, *cuts), (*cuts, len(rest)), strict=True):
            await stream.send_all(rest[start:end])
            await wait_all_tasks_blocked()
        told = await read_to_end(stream)
        assert told.count(b"HTTP/1.1 200 ") == 2


@pytest.mark.wall_clock
async def test_who_has_begun_no_head_is_only_idle(tmp_path: Path) -> None:
    async with served(tmp_path, limits=replace(PATIENT, head_s=0.0)) as (app, _, _):
        stream = await answered(app, "/hello", b"200")
        await wait_all_tasks_blocked(0.05)
        await stream.send_all(request_bytes("GET", "/hello", host=f"127.0.0.1:{app.port}", connection="close"))
        assert b"HTTP/1.1 200 " in await read_to_end(stream)


@pytest.mark.wall_clock
@pytest.mark.parametrize(
    ("frames", "code", "reason"),
    [
        (b"\x82\xff" + (1 << 62).to_bytes(8, "big"), 1009, "A message may have at most 1048576 bytes."),
        (
            b"\x02\x81\0\0\0\0a\x80\xff" + (1 << 20).to_bytes(8, "big"),
            1009,
            "A message may have at most 1048576 bytes.",
        ),
        (b"\x83\x80\0\0\0\0", 1002, "Invalid opcode 0x3"),
    ],
)
async def test_a_frame_that_may_not_be_is_refused_at_its_head(
    tmp_path: Path, frames: bytes, code: int, reason: str
) -> None:
    async with served(tmp_path) as (app, slots, _):
        deflate = {"sec_websocket_extensions": "permessage-deflate"}
        live = await answered(app, "/ws", b"101", x_as="admin", sec_websocket_key=KEY, **UPGRADE, **deflate)
        await live.send_all(frames)
        client = Connection(ConnectionType.CLIENT)
        client.receive_data(await read_to_end(live))
        (closed,) = [event for event in client.events() if isinstance(event, CloseConnection)]
        assert (closed.code, closed.reason) == (code, reason)
        await all_free(slots)


@pytest.mark.wall_clock
async def test_a_fault_of_one_connection_is_logged_and_ends_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path) as (app, slots, _):
        kept = await answered(app, "/hello", b"200")
        with monkeypatch.context() as patched:

            async def fail(connection: object) -> None:
                raise RuntimeError("a fault of Hypercorn's")

            patched.setattr("svc.surface.hypercorn_http2._Connection._read_data", fail)
            broken = await trio.open_tcp_stream("127.0.0.1", app.port)
            await broken.send_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            await read_to_end(broken)
            while slots.value < 2:  # it is logged, then the place is free
                await trio.lowlevel.checkpoint()
        assert "a fault of Hypercorn's" in app.log_text
        await kept.send_all(request_bytes("GET", "/hello", host=f"127.0.0.1:{app.port}", connection="close"))
        assert b"HTTP/1.1 200 " in await read_to_end(kept)
        await all_free(slots)
