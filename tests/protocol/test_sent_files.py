"""Bodies that the system sends out of a file: the same answer as piece by piece, the same deadlines, and no file left
open."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trio
import trio.testing

from svc.protocol.idle import Idle
from svc.protocol.messages import FileBody, Request, Response, Write
from tests.sizes import HANGS_S
from tests.support.http import SmallApplication, Who, read_to_end, replies, request_bytes

CONTENT = os.urandom(3_000_000)


@dataclass
class OpenFile:
    """``fault``: the number of the error that the system answers with; ``most``: bytes of one step."""

    path: Path
    left: int
    offset: int = 0
    fault: int = 0
    most: int = 10**9
    closed: bool = False

    async def send_to(self, descriptor: int) -> int:
        await trio.lowlevel.checkpoint()
        if self.fault:
            raise OSError(self.fault, os.strerror(self.fault))
        with self.path.open("rb") as file:
            try:
                sent = os.sendfile(descriptor, file.fileno(), self.offset, min(self.left, self.most))
            except BlockingIOError:
                return 0
        self.offset += sent
        self.left -= sent
        return sent

    def close(self) -> None:
        self.closed = True


@dataclass
class FileApplication(SmallApplication):
    """``/big`` answers out of ``file``; ``None``: its bytes have to be looked at."""

    file: OpenFile | None = None
    length: int = len(CONTENT)
    opened: list[OpenFile] = field(default_factory=list)
    ended_at: float = 0.0

    async def serve(self, stream: trio.abc.Stream, *, idle: Idle | None = None) -> None:
        await super().serve(stream, idle=idle)
        self.ended_at = trio.current_time()

    async def big(self, who: Who, request: Request) -> Response:
        async def produce(write: Write) -> None:
            self.seen.append("piece by piece")
            await write(CONTENT)

        async def open_it() -> OpenFile | None:
            if self.file is not None:
                self.opened.append(self.file)
            return self.file

        return Response(body=FileBody(produce=produce, opened=open_it), content_length=self.length)


@pytest.fixture
def app(tmp_path: Path) -> FileApplication:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    return FileApplication(file=OpenFile(path, len(CONTENT)))


Talk = Callable[[trio.SocketStream], Awaitable[None]]


async def talk(app: FileApplication, said: bytes, hear: Talk) -> None:
    near, far = (trio.SocketStream(trio.socket.from_stdlib_socket(one)) for one in socket.socketpair())
    async with near, trio.open_nursery() as nursery:
        nursery.start_soon(app.serve, far)
        await near.send_all(said)
        await hear(near)
    assert all(file.closed for file in app.opened)


async def heard(app: FileApplication, said: bytes) -> bytes:
    got: list[bytes] = []

    async def hear(near: trio.SocketStream) -> None:
        got.append(await read_to_end(near))

    with trio.fail_after(HANGS_S):
        await talk(app, said, hear)
    return got[0]


@pytest.mark.parametrize("way", ["sent", "looked at", "not able to", "in small steps"])
async def test_what_the_system_sends_is_what_would_be_written(app: FileApplication, way: str) -> None:
    assert app.file is not None
    if way == "looked at":
        app.file = None
    elif way == "not able to":
        app.file.fault = errno.EINVAL
    elif way == "in small steps":
        app.file.most = 70_001
    said = request_bytes("HEAD", "/big") + request_bytes("GET", "/big") + request_bytes("GET", "/hello")
    end = request_bytes("GET", "/hello", connection="close")
    found = replies(await heard(app, said + end), ["HEAD", "GET", "GET", "GET"])
    assert [reply.status for reply in found] == [200] * 4
    assert found[1].body == CONTENT
    assert len(app.opened) == (way != "looked at")
    assert ("piece by piece" in app.seen) == (way in {"looked at", "not able to"})


async def test_no_plain_socket_no_file_is_opened(app: FileApplication) -> None:
    assert (await app.ask("GET", "/big")).body == CONTENT
    assert app.opened == []


async def test_a_client_that_never_reads_is_cut_and_one_that_reads_slowly_is_not(app: FileApplication) -> None:
    began = trio.current_time()

    async def read_nothing(near: trio.SocketStream) -> None:
        await trio.sleep(2 * app.limits.send_piece_s)

    await talk(app, request_bytes("GET", "/big"), read_nothing)
    assert "http.slow_reader" in app.log_text
    assert app.ended_at - began == pytest.approx(app.limits.send_piece_s)

    assert app.file is not None
    app.file = OpenFile(app.file.path, len(CONTENT))
    got = bytearray()

    async def read_slowly(near: trio.SocketStream) -> None:
        while piece := await near.receive_some(65_536):
            got.extend(piece)
            await trio.sleep(5)

    await talk(app, request_bytes("GET", "/big", connection="close"), read_slowly)
    assert bytes(got).endswith(CONTENT)


async def test_a_drip_of_bytes_does_not_hold_a_connection(app: FileApplication) -> None:
    """Less than one piece in its time is not enough, however often the client takes some."""
    assert app.file is not None
    app.file.most = 1_000
    began = trio.current_time()

    async def drip(near: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):
            while True:
                await near.receive_some(1_000)
                await trio.sleep(1)
                if "http.slow_reader" in app.log_text:
                    break

    await talk(app, request_bytes("GET", "/big"), drip)
    assert trio.current_time() - began < len(CONTENT) / 1_000
    assert "http.slow_reader" in app.log_text


@pytest.mark.parametrize("fault", ["gone", "shorter", "of another length", "broken"])
async def test_what_can_not_be_sent_is_visibly_cut(app: FileApplication, fault: str) -> None:
    assert app.file is not None
    if fault == "gone":
        app.file.fault = errno.ECONNRESET
    elif fault == "of another length":
        app.length -= 1
    elif fault == "broken":
        app.file.fault = errno.EIO
    else:
        app.file.path.write_bytes(CONTENT[:-1])
        app.file.most = 65_536

        async def send_to(descriptor: int, send: Callable[[int], Awaitable[int]] = app.file.send_to) -> int:
            before = app.file.offset if app.file is not None else 0
            sent = await send(descriptor)
            if before >= len(CONTENT) - 1:
                raise RuntimeError("the file has no more")
            return sent

        app.file.send_to = send_to  # type: ignore[method-assign]
    raw = await heard(app, request_bytes("GET", "/big") + request_bytes("GET", "/hello"))
    assert raw.count(b"HTTP/1.1 ") == 1
    assert len(raw.partition(b"\r\n\r\n")[2]) < len(CONTENT)
    assert ("http.answer_cut" in app.log_text) == (fault in {"shorter", "of another length"})
