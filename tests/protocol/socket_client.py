"""A WebSocket client by hand, on wsproto over a memory stream, so that a test can also say what is not allowed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trio
import trio.testing
from wsproto import ConnectionType
from wsproto.connection import Connection
from wsproto.events import BytesMessage, CloseConnection, Event, TextMessage

from svc.errors import Refusal
from svc.log import Log
from svc.protocol.accepted import AcceptedSocket
from svc.protocol.drain import Drain
from svc.protocol.messages import HeaderList, Headers, Request, Response, problem
from svc.protocol.socket import Socket
from svc.protocol.websocket import SocketLimits, serve_socket

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="  # RFC 6455 section 1.3
EndPair = Callable[[], tuple[trio.abc.Stream, trio.abc.Stream]]


def upgrade_request(**changes: str | None) -> Request:
    """A proper opening handshake; keyword arguments replace a header, ``None`` drops it."""
    fields: dict[str, str | None] = {
        "host": "localhost",
        "upgrade": "websocket",
        "connection": "keep-alive, Upgrade",
        "sec-websocket-key": KEY,
        "sec-websocket-version": "13",
    }
    fields |= {name.replace("_", "-"): value for name, value in changes.items()}
    headers = Headers([(name, value) for name, value in fields.items() if value is not None])
    return Request(method="GET", target="/ws?ticket=x", headers=headers, id="r1")


@dataclass
class AcceptedBy(AcceptedSocket):
    handler: Callable[[Socket], Awaitable[None]]

    def headers(self) -> HeaderList:
        return [("x-request-id", "r1")]

    async def handle(self, socket: Socket) -> None:
        await self.handler(socket)

    def opened(self) -> None:
        pass

    def refused(self, refusal: Refusal) -> Response:
        return problem(refusal)


@dataclass
class Client:
    """The other end. ``head`` is the answer to the handshake."""

    stream: trio.abc.Stream
    frames: Connection = field(default_factory=lambda: Connection(ConnectionType.CLIENT))
    head: bytes = b""
    at_end: bool = False

    async def read_head(self) -> bytes:
        while b"\r\n\r\n" not in self.head:
            data = await self.stream.receive_some()
            if not data:
                return self.head
            self.head += data
        self.head, _, rest = self.head.partition(b"\r\n\r\n")
        self.frames.receive_data(rest)
        return self.head

    async def send(self, *events: Event) -> None:
        await self.stream.send_all(b"".join(map(self.frames.send, events)))

    async def say(self, message: str | bytes) -> None:
        await self.send(TextMessage(data=message) if isinstance(message, str) else BytesMessage(data=message))

    async def event(self) -> Event | None:
        """The next thing the server said; ``None`` when it closed the connection."""
        while True:
            for event in self.frames.events():
                return event
            try:
                data = await self.stream.receive_some()
            except trio.BrokenResourceError:
                data = b""
            if not data:
                self.at_end = True
                return None
            self.frames.receive_data(bytes(data))

    async def until_closed(self) -> CloseConnection | None:
        """Read on to the server's Close, without answering it."""
        while (event := await self.event()) is not None:
            if isinstance(event, CloseConnection):
                return event
        return None


@asynccontextmanager
async def served(
    handler: Callable[[Socket], Awaitable[None]],
    log: Log,
    *,
    request: Request | None = None,
    limits: SocketLimits | None = None,
    leftover: bytes = b"",
    drain: Drain | None = None,
    pair: EndPair = trio.testing.memory_stream_pair,
) -> AsyncIterator[Client]:
    """A server that runs ``handler``, and its client, the handshake's answer read. Waits for the server to finish."""
    near, far = pair()

    async def serve() -> None:
        await serve_socket(
            far,
            accepted=AcceptedBy(handler),
            request=request or upgrade_request(),
            leftover=leftover,
            limits=limits or SocketLimits(),
            log=log,
            drain=drain or Drain(),
        )

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        client = Client(near)
        await client.read_head()
        yield client


async def echo(socket: Socket) -> None:
    await socket.accept()
    while (message := await socket.receive()) is not None:
        await socket.send(message)
