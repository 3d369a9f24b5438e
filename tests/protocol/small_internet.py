"""A small Internet in memory: names with addresses, and servers with TLS behind them that say what a test scripts."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import trio
import trio.testing

from svc.protocol.pinned import PinnedEgress

PUBLIC: Final = "93.184.215.14"
OTHER_PUBLIC: Final = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
PICTURES: Final = "pictures.example"
ELSEWHERE: Final = "elsewhere.example"

Page = bytes | Callable[[trio.abc.Stream], Awaitable[None]]
"""What a server says to one request: these bytes, or whatever it does with the connection."""


def answer(body: bytes = b"", *fields: str, status: str = "200 OK", length: int | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *fields]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def moved(location: str, *, status: str = "302 Found") -> bytes:
    return answer(b"", f"Location: {location}", status=status)


@dataclass
class Internet:
    """``names``: what each lookup of a name answers, one after the other, the last for ever."""

    server_tls: ssl.SSLContext
    client_tls: ssl.SSLContext
    names: dict[str, list[list[str]]] = field(default_factory=lambda: {PICTURES: [[PUBLIC]], ELSEWHERE: [[PUBLIC]]})
    pages: dict[str, Page] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    lookups: list[str] = field(default_factory=list)
    dialled: list[tuple[str, int]] = field(default_factory=list)
    heard: list[bytes] = field(default_factory=list)
    nursery: trio.Nursery | None = None

    def egress(self) -> PinnedEgress:
        return PinnedEgress(network=self, tls=self.client_tls)

    async def resolve(self, host: str) -> Sequence[str]:
        self.lookups.append(host)
        await trio.lowlevel.checkpoint()
        answers = self.names.get(host)
        if answers is None:
            raise OSError("no such name")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def connect(self, address: str, port: int) -> trio.abc.Stream:
        self.dialled.append((address, port))
        if address in self.dead:
            await trio.sleep_forever()
        assert self.nursery is not None
        ours, theirs = trio.testing.memory_stream_pair()
        self.nursery.start_soon(self.serve, theirs)
        return ours

    async def serve(self, stream: trio.abc.Stream) -> None:
        tls = trio.SSLStream(stream, self.server_tls, server_side=True, https_compatible=True)
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            head = b""
            while b"\r\n\r\n" not in head:
                if not (more := await tls.receive_some()):
                    return
                head += bytes(more)
            self.heard.append(head)
            page = self.pages.get(_asked(head), answer(status="404 Not Found"))
            await (tls.send_all(page) if isinstance(page, bytes) else page(tls))
            await tls.aclose()


def _asked(head: bytes) -> str:
    lines = head.decode("latin-1").split("\r\n")
    host = next(line.partition(":")[2].strip() for line in lines if line.lower().startswith("host:"))
    return host + lines[0].split(" ")[1]


def drip(head: bytes, *, every_s: float) -> Callable[[trio.abc.Stream], Awaitable[None]]:
    """A byte at a time, for ever."""

    async def page(stream: trio.abc.Stream) -> None:
        await stream.send_all(head)
        while True:
            await trio.sleep(every_s)
            await stream.send_all(b".")

    return page


def endless(head: bytes, chunk: bytes) -> Callable[[trio.abc.Stream], Awaitable[None]]:
    async def page(stream: trio.abc.Stream) -> None:
        await stream.send_all(head)
        while True:
            await stream.send_all(chunk)

    return page
