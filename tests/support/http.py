"""A small application and a client for it, over memory streams: what the HTTP tests share."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import h11
import trio
import trio.testing

from svc.clock import VirtualClock
from svc.errors import Conflict, Refusal
from svc.log import Log
from svc.principal import AUTH_OFF, Principal
from svc.protocol.application import Application
from svc.protocol.drain import Drain
from svc.protocol.guard import Guard
from svc.protocol.http1 import serve_connection
from svc.protocol.idle import Idle
from svc.protocol.limits import Limits
from svc.protocol.messages import Request, Response, json_response
from svc.protocol.router import Router
from svc.protocol.rows import Route, SocketRoute
from svc.protocol.security import DEFAULT_CSP
from svc.protocol.socket import Socket
from svc.protocol.traffic import Traffic
from svc.protocol.websocket import SocketLimits

PORT = 4780
HOST = f"localhost:{PORT}"
LISTED = "https://app.example"

ADMIN = Principal(user_id="usr_a", device_id="dev_a", is_admin=True, via="session")
MEMBER = Principal(user_id="usr_m", device_id="dev_m", is_admin=False, via="session")
DEVICE = Principal(user_id="usr_m", device_id="dev_d", is_admin=False, via="device")
PRINCIPALS = {"admin": ADMIN, "member": MEMBER, "device": DEVICE, "off": AUTH_OFF}

SECURITY = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": DEFAULT_CSP,
    "cache-control": "no-store",
}
"""Headers of every answer that brings none of its own."""

Who = tuple[Request, Principal | None]


@dataclass
class Reply:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class SmallApplication:
    """``seen`` is what handlers did, in order; ``log_text`` what was logged."""

    limits: Limits = field(default_factory=Limits)
    socket_limits: SocketLimits = field(default_factory=SocketLimits)
    seen: list[str] = field(default_factory=list)
    drain: Drain = field(default_factory=Drain)
    public_origin: str | None = None
    secure: bool = False
    port: int = PORT

    def __post_init__(self) -> None:
        self._sink = io.StringIO()
        self.clock = VirtualClock()
        self.log = Log(self._sink, readable=False, clock=self.clock, level="debug")
        self.traffic = Traffic()
        self.application: Application[Who] = Application(
            router=Router(self.routes(), self.sockets()),
            guard=Guard(
                bind_host="127.0.0.1",
                port=self.port,
                public_origin=self.public_origin,
                cors_origins=frozenset({LISTED}),
            ),
            resolve=self.resolve,
            context=lambda request, principal: (request, principal),
            log=self.log,
            clock=self.clock,
            traffic=self.traffic,
        )

    @property
    def log_lines(self) -> list[dict[str, Any]]:
        """The lines of the log that tell of a request."""
        lines = map(json.loads, self.log_text.splitlines())
        return [line for line in lines if line["event"] == "http.request"]

    @property
    def log_text(self) -> str:
        return self._sink.getvalue()

    async def resolve(self, request: Request) -> Principal | None:
        self.seen.append("resolve")
        return PRINCIPALS.get(request.headers.get("x-as") or "")

    def routes(self) -> list[Route[Who]]:
        return [
            Route(method="GET", path="/hello", access="public", handle=self.hello, summary=""),
            Route(method="GET", path="/livez", access="public", handle=self.hello, summary="", host_exempt=True),
            Route(method="GET", path="/files/:id/content", access="public", handle=self.echo_id, summary=""),
            Route(method="GET", path="/mine", access="authenticated", handle=self.hello, summary=""),
            Route(method="GET", path="/theirs", access="admin", handle=self.hello, summary=""),
            Route(method="POST", path="/upload", access="public", handle=self.upload, summary=""),
            Route(method="POST", path="/swallow", access="public", handle=self.swallow, summary=""),
            Route(method="POST", path="/ignore", access="public", handle=self.ignore, summary=""),
            Route(method="POST", path="/auth/socket-ticket", access="authenticated", handle=self.hello, summary=""),
            Route(method="POST", path="/hook", access="public", handle=self.ignore, summary="", csrf_exempt=True),
            Route(method="GET", path="/big", access="public", handle=self.big, summary=""),
            Route(method="GET", path="/stream", access="public", handle=self.stream, summary=""),
            Route(method="GET", path="/bug", access="public", handle=self.bug, summary=""),
            Route(method="GET", path="/break", access="public", handle=self.break_header, summary=""),
            Route(method="GET", path="/halfway", access="public", handle=self.halfway, summary=""),
            Route(method="GET", path="/slow", access="public", handle=self.slow, summary=""),
            Route(method="GET", path="/together/:kind", access="public", handle=self.together, summary=""),
            Route(method="GET", path="/conflict", access="public", handle=self.conflict, summary=""),
            Route(method="GET", path="/trpc/*path", access="authenticated", handle=self.hello, summary=""),
            Route(method="POST", path="/trpc/*path", access="authenticated", handle=self.hello, summary=""),
        ]

    def sockets(self) -> list[SocketRoute[Who]]:
        return [
            SocketRoute(path="/ws", access="authenticated", handle=self.echo_socket, summary=""),
            SocketRoute(path="/pty", access="admin", handle=self.echo_socket, summary=""),
            SocketRoute(path="/full", access="authenticated", handle=self.full_socket, summary=""),
            SocketRoute(path="/shy", access="authenticated", handle=self.shy_socket, summary=""),
            SocketRoute(path="/broken", access="authenticated", handle=self.broken_socket, summary=""),
            SocketRoute(path="/late", access="authenticated", handle=self.late_socket, summary=""),
        ]

    async def hello(self, who: Who, request: Request) -> Response:
        self.seen.append(f"hello {request.target}")
        return json_response({"hello": request.path})

    async def echo_id(self, who: Who, request: Request) -> Response:
        return json_response({"id": request.params["id"]})

    async def upload(self, who: Who, request: Request) -> Response:
        data = await request.read(100_000)
        self.seen.append(f"upload {len(data)}")
        return json_response({"size": len(data), "text": data[:40].decode("latin-1")})

    async def swallow(self, who: Who, request: Request) -> Response:
        """Reads its body and answers 200 whatever comes of it."""
        with suppress(Refusal):
            await request.read(100_000)
        return Response(body=b"swallowed")

    async def ignore(self, who: Who, request: Request) -> Response:
        self.seen.append("ignore")
        return Response(body=b"ignored")

    async def big(self, who: Who, request: Request) -> Response:
        return Response(body=b"x" * 1_000_000)

    async def stream(self, who: Who, request: Request) -> Response:
        length = request.query().get("length")
        return Response(body=self.pieces(), content_length=None if length is None else int(length))

    async def pieces(self) -> AsyncIterator[bytes]:
        try:
            for piece in (b"one ", b"", b"two ", b"three"):
                await trio.sleep(1)
                yield piece
        finally:
            self.seen.append("stream closed")

    async def bug(self, who: Who, request: Request) -> Response:
        raise RuntimeError("the reason nobody outside may read")

    async def break_header(self, who: Who, request: Request) -> Response:
        return Response(headers=[("x-name", "a\r\nset-cookie: evil=1")], body=b"hello")

    async def halfway(self, who: Who, request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            yield b"first half"
            raise RuntimeError("the disk is gone")

        return Response(body=body())

    async def slow(self, who: Who, request: Request) -> Response:
        self.seen.append("slow begins")
        await trio.sleep(1_000)
        return Response(body=b"done")

    async def together(self, who: Who, request: Request) -> Response:
        """Refuses from inside a nursery; with a bug beside it, if asked."""

        async def bug() -> None:
            raise RuntimeError("beside it")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.conflict, who, request)
            if request.params["kind"] == "bug":
                nursery.start_soon(bug)
        return Response()

    async def conflict(self, who: Who, request: Request) -> Response:
        raise Conflict("The page has changed.", data={"revision": 7})

    async def echo_socket(self, who: Who, request: Request, socket: Socket) -> None:
        await socket.accept()
        while (message := await socket.receive()) is not None:
            await socket.send(message)

    async def full_socket(self, who: Who, request: Request, socket: Socket) -> None:
        raise Conflict("There is no room for another one.")

    async def shy_socket(self, who: Who, request: Request, socket: Socket) -> None:
        await socket.close(reason="Not today.")

    async def broken_socket(self, who: Who, request: Request, socket: Socket) -> None:
        raise RuntimeError("the reason nobody outside may read")

    async def late_socket(self, who: Who, request: Request, socket: Socket) -> None:
        """The service begins to drain before the socket is open."""
        self.drain.begin()
        await trio.testing.wait_all_tasks_blocked()
        await socket.accept()

    async def serve(self, stream: trio.abc.Stream, *, idle: Idle | None = None) -> None:
        """``idle``: the caller runs it."""
        async with trio.open_nursery() as nursery:
            if idle is None:
                idle = Idle()
                nursery.start_soon(idle.run, self.limits, self.drain)
            await serve_connection(
                stream,
                self.application,
                log=self.log,
                peer="192.0.2.7",
                drain=self.drain,
                idle=idle,
                secure=self.secure,
                limits=self.limits,
                socket_limits=self.socket_limits,
            )
            nursery.cancel_scope.cancel()

    async def talk(self, data: bytes, *, piece: int = 65536, half_close: bool = False) -> bytes:
        """Send ``data`` in pieces, then read all that comes until the server closes."""
        async with trio.open_nursery() as nursery:
            ours, theirs = trio.testing.memory_stream_pair()
            nursery.start_soon(self.serve, theirs)
            for start in range(0, len(data), piece):
                await ours.send_all(data[start : start + piece])
                await trio.testing.wait_all_tasks_blocked()
            if half_close:
                await ours.send_eof()
            return await read_to_end(ours)

    async def ask(self, method: str, target: str, body: bytes = b"", /, **headers: str) -> Reply:
        """One request, its reply. ``x_as="member"`` becomes the header ``x-as``."""
        raw = await self.talk(request_bytes(method, target, body, **headers))
        return replies(raw, [method])[0]


def request_bytes(method: str, target: str, body: bytes = b"", /, **headers: str) -> bytes:
    fields = {"host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
    if body:
        fields["content-length"] = str(len(body))
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


async def read_to_end(stream: trio.abc.ReceiveStream) -> bytes:
    data = b""
    try:
        async for piece in stream:
            data += piece
    except trio.BrokenResourceError:
        pass
    return data


def replies(raw: bytes, methods: Iterable[str] = ("GET",)) -> list[Reply]:
    """All complete replies in ``raw``, read by h11 as the client of requests with ``methods``."""
    found: list[Reply] = []
    for method in methods:
        if not raw:
            break  # nothing would mean the end of the stream to h11
        client = h11.Connection(h11.CLIENT)
        client.send(h11.Request(method=method, target="/", headers=[("Host", "x")]))
        client.send(h11.EndOfMessage())
        client.receive_data(raw)
        status, headers, body = 0, [], b""
        while not isinstance(event := client.next_event(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                if not status or client.their_state is not h11.SEND_BODY:
                    return found
                client.receive_data(b"")
            elif isinstance(event, h11.Response):
                status = event.status_code
                headers = [(key.decode(), value.decode("latin-1")) for key, value in event.headers]
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif not isinstance(event, h11.InformationalResponse):
                return found
        found.append(Reply(status, headers, body))
        raw = client.trailing_data[0]
    return found
