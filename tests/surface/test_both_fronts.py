"""The same bytes of HTTP/1.1 get the same answers from both fronts, whatever they are, and leave the same traces."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, Literal

import pytest
import trio

from svc.config import Config
from svc.doors import Door, Shortage, serve_port
from svc.nursery import Child
from svc.protocol import Limits
from svc.surface.hypercorn_front import serve_by_hypercorn
from tests.sizes import HANGS_S
from tests.support.certificates import self_signed
from tests.support.http import Reply, SmallApplication, read_to_end, replies
from tests.surface.test_second_front import KEY, read

pytestmark = pytest.mark.wall_clock

LIMITS: Final = Limits(idle_s=10 * HANGS_S)
SLOTS: Final = 3
Front = Literal["own", "hypercorn", "hypercorn with TLS"]
OWN: Final[Front] = "own"
PLAIN: Final[Front] = "hypercorn"
TLS: Final[Front] = "hypercorn with TLS"
VARYING: Final = frozenset({"date", "x-request-id", "strict-transport-security"})

HOST: Final = "Host: 127.0.0.1\r\n"
NEXT: Final = f"GET /hello?next HTTP/1.1\r\n{HOST}Connection: close\r\n\r\n"
CHUNKED: Final = f"POST /upload HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n"
IGNORED: Final = f"POST /ignore HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n"
HELLO: Final = "5\r\nhello\r\n0\r\n\r\n"
TRAILER: Final = "A: b\r\n"
SOCKET: Final = f"GET /ws HTTP/1.1\r\n{HOST}X-As: member\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
KEYED: Final = f"{SOCKET}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n"
BYE: Final = b"\x88\x82\0\0\0\0\x03\xe8"
"""The Close frame of a client, code 1000."""

SAID: Final[Mapping[str, tuple[str, tuple[int, ...]]]] = {
    "a target without its slash": (f"GET hello HTTP/1.1\r\n{HOST}\r\n", (400,)),
    "a target with a fragment": (f"GET /hello#a HTTP/1.1\r\n{HOST}\r\n", (400,)),
    "no request at all": ("hello\r\n\r\n", (400,)),
    "another version": (f"GET /hello HTTP/1.3\r\n{HOST}\r\n", (505,)),
    "a path with two slashes": (f"GET //x HTTP/1.1\r\n{HOST}\r\n", (400,)),
    "an absolute target": (f"GET http://127.0.0.1/hello HTTP/1.1\r\n{HOST}\r\n", (200, 200)),
    "an absolute target of another host": (f"GET http://example.org/hello HTTP/1.1\r\n{HOST}\r\n", (400,)),
    "a method in lower case": (f"get /hello HTTP/1.1\r\n{HOST}\r\n", (405, 200)),
    "chunks": (CHUNKED + HELLO, (200, 200)),
    "chunks that nobody reads": (IGNORED + HELLO, (200, 200)),
    "malformed chunks that nobody reads": (f"{IGNORED}5\r\nhello!\r\n0\r\n\r\n", (400,)),
    "a bare carriage return in an extension": (f"{CHUNKED}5;a\rb\r\nhello\r\n0\r\n\r\n", (400,)),
    "a space after a size": (f"{CHUNKED}5 \r\nhello\r\n0\r\n\r\n", (400,)),
    "a tab after a size": (f"{CHUNKED}5\t\r\nhello\r\n0\r\n\r\n", (400,)),
    "a long extension": (f"{CHUNKED}5;a={'x' * 5_000}\r\nhello\r\n0\r\n\r\n", (400,)),
    "many trailers": (f"{CHUNKED}5\r\nhello\r\n0\r\n{TRAILER * 2_000}\r\n", (400,)),
    "a chunk that is no chunk": (f"{CHUNKED}five\r\nhello\r\n0\r\n\r\n", (400,)),
    "a size beyond all sizes": (f"{CHUNKED}ffffffffffffffffffff\r\n", (400,)),
    "a chunk with a bare line feed at its end": (f"{CHUNKED}5\r\nhello\r\n0\r\n\n", (400,)),
    "too long a body": (
        f"POST /upload HTTP/1.1\r\n{HOST}Expect: 100-continue\r\nContent-Length: 200000\r\n\r\n",
        (413,),
    ),
    "a body of a stranger": (
        f"POST /trpc/x HTTP/1.1\r\n{HOST}Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
        (401,),
    ),
    "a body that is invited": (
        f"POST /upload HTTP/1.1\r\n{HOST}Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
        (200, 200),
    ),
    "HTTP/1.0": ("GET /hello HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n", (200,)),
    "a wish to go on in HTTP/2": (
        f"GET /hello HTTP/1.1\r\n{HOST}Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n"
        "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
        (200, 200),
    ),
    "a socket of a stranger": (KEYED.replace("X-As: member\r\n", "") + "\r\n", (401, 200)),
    "a socket with a short key": (f"{SOCKET}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: abc\r\n\r\n", (400,)),
    "a socket with two keys": (f"{KEYED}Sec-WebSocket-Key: {KEY}\r\n\r\n", (400,)),
    "a socket without a key": (f"{SOCKET}Sec-WebSocket-Version: 13\r\n\r\n", (400,)),
    "a socket of version 8": (f"{SOCKET}Sec-WebSocket-Version: 8\r\nSec-WebSocket-Key: {KEY}\r\n\r\n", (426, 200)),
    "a socket without a version": (f"{SOCKET}Sec-WebSocket-Key: {KEY}\r\n\r\n", (400,)),
    "a socket with a body": (f"{KEYED}Content-Length: 3\r\n\r\nabc", (400,)),
}


@asynccontextmanager
async def served_by(front: Front, tmp_path: Path) -> AsyncIterator[SmallApplication]:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    world = SmallApplication(port=listeners[0].socket.getsockname()[1], secure=front == TLS)
    with trio.fail_after(HANGS_S):
        async with trio.open_nursery() as nursery:
            child = Child(name="http", log=world.log, work=nursery, ready=lambda: None, drain_asked=trio.Event())
            slots = trio.Semaphore(SLOTS)
            if front == OWN:
                door = Door(application=world.application, slots=slots, limits=LIMITS)
                nursery.start_soon(serve_port, child, listeners, [door])
            else:
                serve = partial(serve_by_hypercorn, config=_config(front, tmp_path), slots=slots, limits=LIMITS)
                shortage = Shortage(world.log)
                nursery.start_soon(partial(serve, child, listeners, world.application, shortage=shortage))
            yield world
            while slots.value < SLOTS:  # a connection that has ended is ended here, too
                await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()


def _config(front: Front, tmp_path: Path) -> Config:
    if front == PLAIN:
        return read(tmp_path, "hypercorn")
    pem = str(self_signed(tmp_path, "localhost"))
    return read(tmp_path, "hypercorn", SVC_TLS_CERT_FILE=pem, SVC_TLS_KEY_FILE=pem)


@asynccontextmanager
async def connected(world: SmallApplication) -> AsyncIterator[trio.abc.Stream]:
    stream: trio.abc.Stream = await trio.open_tcp_stream("127.0.0.1", world.port)
    if world.secure:
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        trusting.set_alpn_protocols(["http/1.1"])
        stream = trio.SSLStream(stream, trusting, https_compatible=True)
    async with stream:
        yield stream


async def talk(front: Front, tmp_path: Path, data: bytes) -> tuple[SmallApplication, bytes]:
    """The world after ``data`` was sent to it in one piece, and all that it said until it closed."""
    async with served_by(front, tmp_path) as world, connected(world) as stream:
        await stream.send_all(data)
        said = await read_to_end(stream)
    return world, said


def _steady(reply: Reply) -> tuple[int, list[tuple[str, str]], bytes]:
    assert reply.header("x-request-id")
    return reply.status, [field for field in reply.headers if field[0] not in VARYING], reply.body


@pytest.mark.parametrize("front", [PLAIN, TLS])
@pytest.mark.parametrize(("data", "statuses"), SAID.values(), ids=SAID)
async def test_the_same_bytes_get_the_same_answers(
    tmp_path: Path, front: Front, data: str, statuses: tuple[int, ...]
) -> None:
    """With a next request in the same piece, which has no effect after an error that leaves its start in doubt."""
    raw = (data + NEXT).encode()
    own_world, own_said = await talk(OWN, tmp_path, raw)
    world, said = await talk(front, tmp_path, raw)
    own, other = (replies(one, ("GET", "GET")) for one in (own_said, said))
    assert tuple(reply.status for reply in other) == statuses
    assert [_steady(reply) for reply in other] == [_steady(reply) for reply in own]
    assert (b" 100 " in said) is (b" 100 " in own_said) is False
    assert world.seen == own_world.seen
    assert "Traceback" not in world.log_text
    assert '"level":"error"' not in world.log_text


@pytest.mark.parametrize("front", [OWN, PLAIN, TLS])
async def test_frames_that_come_with_the_handshake_are_read_after_it(tmp_path: Path, front: Front) -> None:
    hello = b"\x81\x85\0\0\0\0hello"
    world, said = await talk(front, tmp_path, f"{KEYED}\r\n".encode() + hello + BYE)
    head, _, frames = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 ")
    assert frames == b"\x81\x05hello\x88\x02\x03\xe8"
    assert '"level":"error"' not in world.log_text


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x01\x02", b"GET /hello HTTP/1.1\r\n\r\n"], ids=["", "half", "HTTP"])
async def test_who_speaks_no_tls_is_no_fault_of_ours(tmp_path: Path, said: bytes) -> None:
    async with served_by(TLS, tmp_path) as world, await trio.open_tcp_stream("127.0.0.1", world.port) as stream:
        if said:
            await stream.send_all(said)
        await stream.send_eof()
        assert b"HTTP" not in await read_to_end(stream)
    assert '"level":"error"' not in world.log_text


@pytest.mark.parametrize("front", [OWN, PLAIN, TLS])
async def test_a_body_is_invited_once_it_is_wanted(tmp_path: Path, front: Front) -> None:
    head = f"POST /upload HTTP/1.1\r\n{HOST}Connection: close\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    async with served_by(front, tmp_path) as world, connected(world) as stream:
        await stream.send_all(head.encode())
        invited = b""
        while not invited.endswith(b"\r\n\r\n"):
            invited += await stream.receive_some()
        assert invited == b"HTTP/1.1 100 Continue\r\n\r\n"
        await stream.send_all(b"hello")
        (reply,) = replies(await read_to_end(stream))
    assert (reply.status, reply.json["size"]) == (200, 5)


@pytest.mark.parametrize("front", [OWN, PLAIN, TLS])
async def test_an_answer_arrives_although_its_request_is_not_read_to_its_end(tmp_path: Path, front: Front) -> None:
    """Closing a connection with bytes unread would reset it."""
    data = f"GET hello HTTP/1.1\r\n{HOST}\r\n".encode() + b"x" * 1_000_000
    _, said = await talk(front, tmp_path, data)
    assert said.startswith(b"HTTP/1.1 400 ")
