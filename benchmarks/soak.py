"""An hour of mixed load with slow and hostile clients: memory and descriptors before it, during it and after it.

The real ``svc serve`` over loopback. Calls, uploads, downloads and live sockets go on beside clients that send a head
or a body by drops, read nothing, say nothing, send what is no HTTP, cut the line in the middle, or come all at once.
What is told: whether each ordinary answer was right, and whether the process holds in the end what it held before.
"""

from __future__ import annotations

import json
import os
import random
import struct
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import trio

from benchmarks.processes import Server, svc_serve
from benchmarks.report import Table

SECONDS: Final = 3_600.0
QUICK_SECONDS: Final = 60.0
WARM_SECONDS: Final = 15.0
QUIET_SECONDS: Final = 90.0
"""After the load: idle connections end after 75 s."""
SAMPLES: Final = 6
CONNECTIONS_AT_ONCE: Final = 150
MIB: Final = 1024 * 1024
GARBAGE: Final = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200,
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\n\r\n",
    b"POST /trpc/mail.archive HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"\r\n" * 5_000,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
)
CALLS: Final = (
    "health.ping",
    "mail.accounts",
    "mail.threads?input=%7B%22section%22%3A%22inbox%22%7D",
    "pages.tree",
    "files.list",
    "events.recent",
)
BROKEN: Final = (OSError, trio.BrokenResourceError, trio.ClosedResourceError)


def run(quick: bool) -> Iterable[Table]:
    yield soaked(QUICK_SECONDS if quick else SECONDS)


def soaked(seconds: float) -> Table:
    """The table of one soak of so many seconds."""
    with TemporaryDirectory() as directory, ExitStack() as stack:
        server = stack.enter_context(svc_serve(Path(directory) / "home"))
        load = _MixedLoad(server)
        trio.run(load.soak, seconds)
    table = Table(
        title=f"{seconds:.0f} s of mixed load with slow and hostile clients",
        columns=("when", "memory, MiB (PSS)", "descriptors", "threads"),
    )
    for when, (memory, descriptors, threads) in load.samples:
        table.add(when, f"{memory / MIB:.1f}", str(descriptors), str(threads))
    done = ", ".join(f"{name} {number:,}" for name, number in sorted(load.done.items()))
    table.notes.append(f"done: {done}")
    table.notes.append(f"wrong answers: {dict(load.wrong) or 'none'}")
    table.notes.append("aim: memory and descriptors in the end as they were before, but for what caches took")
    return table


class _MixedLoad:
    """The clients. ``done`` counts what they did, ``wrong`` ordinary calls that were not answered well."""

    def __init__(self, server: Server) -> None:
        self.port = server.port
        self.pid = server.process.pid
        self.done: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.samples: list[tuple[str, tuple[int, int, int]]] = []

    async def soak(self, seconds: float) -> None:
        await self._everybody(WARM_SECONDS)
        await trio.sleep(QUIET_SECONDS)
        self._sample("before")
        began = time.monotonic()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._everybody, seconds)
            for _ in range(SAMPLES):
                await trio.sleep(seconds / (SAMPLES + 1))
                self._sample(f"after {time.monotonic() - began:.0f} s")
        await trio.sleep(QUIET_SECONDS)
        self._sample("quiet again")

    async def _everybody(self, seconds: float) -> None:
        clients: list[tuple[int, Callable[[], Awaitable[None]]]] = [
            (4, self._call),
            (2, self._carry),
            (20, self._listen),
            (10, self._drip_head),
            (5, self._drip_body),
            (5, self._read_nothing),
            (10, self._say_nothing),
            (2, self._talk_garbage),
            (2, self._cut),
            (1, self._flood),
            (3, self._subscribe),
        ]
        with trio.move_on_after(seconds):
            async with trio.open_nursery() as nursery:
                for number, client in clients:
                    for _ in range(number):
                        nursery.start_soon(self._again, client)

    async def _again(self, client: Callable[[], Awaitable[None]]) -> None:
        while True:
            with suppress(*BROKEN):
                await client()
            self.done[client.__name__.removeprefix("_")] += 1
            await trio.sleep(random.random() / 5)

    def _sample(self, when: str) -> None:
        self.samples.append((when, _held(self.pid)))

    async def _open(self) -> trio.SocketStream:
        return await trio.open_tcp_stream("127.0.0.1", self.port)

    def _head(self, method: str, path: str, *fields: str) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *fields]
        return "\r\n".join([*lines, "", ""]).encode()

    # Ordinary ones

    async def _call(self) -> None:
        """A browser's calls, one after the other on one connection."""
        async with await self._open() as stream:
            for name in CALLS * 20:
                await stream.send_all(self._head("GET", f"/trpc/{name}"))
                status, _ = await _answer(stream)
                if status not in (200, 503):
                    self.wrong[f"{name} {status}"] += 1
                self.done["calls"] += 1

    async def _carry(self) -> None:
        """A file up, down and away."""
        data = os.urandom(MIB)
        async with await self._open() as stream:
            await stream.send_all(self._head("POST", "/files", f"Content-Length: {MIB}", "X-File-Name: soak") + data)
            status, body = await _answer(stream)
            if status != 201:
                self.wrong[f"upload {status}"] += 1
                return
            file = json.loads(body)
            await stream.send_all(self._head("GET", f"/files/{file['id']}/content"))
            status, body = await _answer(stream)
            if (status, body) != (200, data):
                self.wrong[f"download {status}"] += 1
            said = json.dumps({"id": file["id"]}).encode()
            fields = ("Content-Type: application/json", f"Content-Length: {len(said)}")
            await stream.send_all(self._head("POST", "/trpc/files.delete", *fields) + said)
            status, _ = await _answer(stream)
            if status != 200:
                self.wrong[f"delete {status}"] += 1

    async def _listen(self) -> None:
        """A live socket that stays for a while, and then hangs up without a word."""
        async with await self._open() as stream:
            fields = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
            await stream.send_all(self._head("GET", "/ws", *fields, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="))
            said = b'{"type":"subscribe","topics":["mail","pages","files"],"after":0}'
            await stream.send_all(bytes([0x81, 0x80 | len(said)]) + struct.pack("!I", 0) + said)
            with trio.move_on_after(random.uniform(0, 20)):
                while await stream.receive_some(65_536):
                    pass

    async def _subscribe(self) -> None:
        async with await self._open() as stream:
            path = "/trpc/events.live?input=%7B%22topics%22%3A%5B%22files%22%5D%7D"
            await stream.send_all(self._head("GET", path, "Accept: text/event-stream"))
            with trio.move_on_after(random.uniform(0, 10)):
                while await stream.receive_some(65_536):
                    pass

    # Slow ones

    async def _drip_head(self) -> None:
        async with await self._open() as stream:
            for byte in self._head("GET", "/trpc/health.ping"):
                await stream.send_all(bytes([byte]))
                await trio.sleep(0.2)

    async def _drip_body(self) -> None:
        async with await self._open() as stream:
            await stream.send_all(self._head("POST", "/files", "Content-Length: 1000000", "X-File-Name: slow"))
            for _ in range(60):
                await stream.send_all(b"x")
                await trio.sleep(1)

    async def _read_nothing(self) -> None:
        """Asks for much and reads none of it."""
        async with await self._open() as stream:
            with trio.move_on_after(40):
                while True:
                    await stream.send_all(self._head("GET", "/openapi.json"))
                    await trio.sleep(0.05)

    async def _say_nothing(self) -> None:
        async with await self._open() as stream:
            with trio.move_on_after(random.uniform(0, 90)):
                await stream.receive_some(1)

    # Hostile ones

    async def _talk_garbage(self) -> None:
        for garbage in GARBAGE:
            with suppress(*BROKEN):
                async with await self._open() as stream:
                    await stream.send_all(garbage)
                    await stream.send_eof()
                    await _to_end(stream)

    async def _cut(self) -> None:
        """Resets a connection in the middle of an upload, a download or a handshake."""
        for data in (
            self._head("POST", "/files", "Content-Length: 5000000", "X-File-Name: cut") + b"x" * 300_000,
            self._head("GET", "/openapi.json"),
            self._head("GET", "/ws", "Upgrade: websocket", "Connection: Upgrade"),
            b"GET /trpc/hea",
        ):
            stream = await self._open()
            stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_LINGER, struct.pack("ii", 1, 0))
            with suppress(*BROKEN):
                await stream.send_all(data)
            await trio.aclose_forcefully(stream)

    async def _flood(self) -> None:
        """Many at once, each with one call."""
        async with trio.open_nursery() as nursery:
            for _ in range(CONNECTIONS_AT_ONCE):
                nursery.start_soon(partial(self._one_of_many))
        await trio.sleep(5)

    async def _one_of_many(self) -> None:
        with suppress(*BROKEN):
            async with await self._open() as stream:
                await stream.send_all(self._head("GET", "/trpc/health.ping", "Connection: close"))
                await _to_end(stream)


async def _answer(stream: trio.SocketStream) -> tuple[int, bytes]:
    """Status and body of one answer with a length."""
    data = bytearray()
    while b"\r\n\r\n" not in data:
        piece = await stream.receive_some(65_536)
        if not piece:
            raise trio.BrokenResourceError
        data += piece
    head, _, body = bytes(data).partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    length = int(lengths[0].partition(b":")[2]) if lengths else 0
    whole = bytearray(body)
    while len(whole) < length:
        piece = await stream.receive_some(65_536)
        if not piece:
            raise trio.BrokenResourceError
        whole += piece
    return int(head.split()[1]), bytes(whole)


async def _to_end(stream: trio.SocketStream) -> None:
    with trio.move_on_after(10):
        while await stream.receive_some(65_536):
            pass


def _held(pid: int) -> tuple[int, int, int]:
    """Bytes of memory, open descriptors, threads. Zeros where the system does not tell (only Linux does)."""
    process = Path(f"/proc/{pid}")
    if not process.exists():
        return 0, 0, 0
    shared = (process / "smaps_rollup").read_text().splitlines()
    memory = next(int(line.split()[1]) * 1024 for line in shared if line.startswith("Pss:"))
    return memory, len(list((process / "fd").iterdir())), len(list((process / "task").iterdir()))
