"""The ASGI 3 face of the same application, for installations that want TLS and HTTP/2 in front.

The front (Hypercorn's trio worker) parses and frames; this module translates. The guard, the error table and the
headers are the application's own, so both faces answer alike. Owns the translation of one call, and the pace of its
body; the front owns the other deadlines of the connection. It never reads ahead of a handler.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from functools import partial
from typing import Any, Final

import trio

from svc.errors import Forbidden, Invalid, Refusal, Unavailable
from svc.log import Log
from svc.protocol.accepted import AcceptedSocket
from svc.protocol.application import Application, refusal_in
from svc.protocol.drain import Drain
from svc.protocol.limits import DEFAULT_LIMITS, Limits
from svc.protocol.messages import Headers, Request, Response, pour
from svc.protocol.pace import Pace
from svc.protocol.response_head import BODILESS, close_body
from svc.protocol.socket import GOING_AWAY, NORMAL, NUDGE, Nudge, Socket, SocketClosed
from svc.protocol.strict import check_read_head

Scope = MutableMapping[str, Any]  # the edge: ASGI's own untyped dictionaries
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_REFUSAL_EXTENSION: Final = "websocket.http.response"


class AsgiFace:
    """Call it as an ASGI application. On drain it closes sockets with 1001, and an answer over HTTP/1.1 is the last of
    its connection, as is one to a malformed head or a chunked body: fronts read chunks less strictly than we do, so
    nothing is read after them. The front ends the requests that are still in progress."""

    def __init__(
        self, application: Application[Any], *, log: Log, drain: Drain, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self._application = application
        self._log = log
        self._drain = drain
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["type"] == "lifespan":
            await _lifespan(receive, send)
        else:
            raise RuntimeError(f"ASGI scope {scope['type']!r} is not known")

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = _request(scope)
        request.body = AsgiBody(receive, _declared_length(scope, request.headers), pace=Pace(self._limits))
        if request.body.declared_length == 0:
            request.gone = partial(_gone, receive)
        request.draining = self._drain.event
        refusal = self._head_fault(scope, request)
        if refusal is None:
            response = await self._application(request)
        else:
            response = self._application.fault(refusal, peer=request.peer, secure=request.secure)
        is_chunked = request.headers.get("transfer-encoding") is not None
        if (is_chunked or refusal is not None or self._drain()) and scope["http_version"].startswith("1"):
            response.headers.append(("connection", "close"))
        await self._respond(request, response, send)

    def _head_fault(self, scope: Scope, request: Request) -> Refusal | None:
        fields = [(name.lower(), value) for name, value in scope["headers"]]
        version = f"HTTP/{scope['http_version']}".encode()
        try:
            check_read_head(request.target.encode("latin-1"), fields, version, self._limits)
        except Refusal as refusal:
            return refusal
        return None

    async def _respond(self, request: Request, response: Response, send: Send) -> None:
        is_bodiless = request.method == "HEAD" or response.status in BODILESS
        try:
            await send(_start("http.response.start", response))
            if is_bodiless or isinstance(response.body, bytes):
                data = b"" if is_bodiless else response.body
                await send({"type": "http.response.body", "body": data, "more_body": False})
                return

            async def write(piece: bytes) -> None:
                await send({"type": "http.response.body", "body": piece, "more_body": True})

            await pour(response.body, write)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await close_body(response.body)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        request = _request(scope)
        refusal = self._head_fault(scope, request)
        if refusal is None:
            outcome = await self._application.upgrade(request, front_shook_hands=True)
        else:
            outcome = self._application.fault(refusal, peer=request.peer, secure=request.secure)
        if isinstance(outcome, Response):
            await _refuse_upgrade(scope, outcome, send)
        else:
            await self._run(AsgiSocket(receive, send, outcome), outcome, scope, request)

    async def _run(self, socket: AsgiSocket, accepted: AcceptedSocket, scope: Scope, request: Request) -> None:
        refusal: Refusal | None = None
        try:
            async with trio.open_nursery() as beside:
                beside.start_soon(self._close_on_drain, socket)
                await accepted.handle(socket)
                beside.cancel_scope.cancel()
        except* SocketClosed:
            pass
        except* Exception as group:
            refusal = refusal_in(group)
            if refusal is None:
                self._log.error("socket handler failed", group, request_id=request.id, path=request.logged)
                refusal = Refusal(code="internal")
        if not socket.accepted:
            answer = accepted.refused(refusal or socket.refusal or Forbidden())
            await _refuse_upgrade(scope, answer, socket.send_message)
        elif refusal is None:
            await socket.close()
        else:
            await socket.close(refusal.row.close_code, refusal.detail)

    async def _close_on_drain(self, socket: AsgiSocket) -> None:
        await self._drain.event.wait()
        await socket.close(GOING_AWAY, "The service is shutting down.")


class AsgiSocket(Socket):
    """A socket whose frames are read and written by the front. ``refusal``: set when it is not to be opened."""

    def __init__(self, receive: Receive, send: Send, accepted: AcceptedSocket) -> None:
        self.accepted = False
        self.refusal: Refusal | None = None
        self.send_message = send
        self._receive = receive
        self._upgrade = accepted
        self._is_closed = False
        self._is_nudged = False
        self._listening: trio.CancelScope | None = None

    async def accept(self, *, headers: Iterable[tuple[str, str]] = ()) -> None:
        if self._is_closed:
            raise SocketClosed
        fields = _encode_fields([*self._upgrade.headers(), *headers])
        self.accepted = True
        self._upgrade.opened()
        await self.send_message({"type": "websocket.accept", "headers": fields})

    async def receive(self) -> str | bytes | None:
        if self._is_closed:
            return None
        message = await self._receive()
        if message["type"] != "websocket.receive":
            self._is_closed = True
            return None
        text = message.get("text")
        data: str | bytes = text if text is not None else message["bytes"]
        return data

    async def listen(self) -> str | bytes | Nudge | None:
        if not self._is_nudged:
            with trio.CancelScope() as self._listening:
                try:
                    return await self.receive()
                finally:
                    self._listening = None
        self._is_nudged = False
        return NUDGE

    def nudge(self) -> None:
        self._is_nudged = True
        if self._listening is not None:
            self._listening.cancel()

    async def send(self, message: str | bytes) -> None:
        if self._is_closed:
            raise SocketClosed
        key = "text" if isinstance(message, str) else "bytes"
        await self.send_message({"type": "websocket.send", key: message})

    async def close(self, code: int = NORMAL, reason: str = "") -> None:
        if self._is_closed:
            return
        self._is_closed = True
        if self.accepted:
            await self.send_message({"type": "websocket.close", "code": code, "reason": reason})
        else:
            self.refusal = Unavailable(reason) if code == GOING_AWAY else Forbidden(reason)


class AsgiBody:
    """A request's body as the front delivers it. It is its own iterator, since a body is read once."""

    def __init__(self, receive: Receive, declared_length: int | None, *, pace: Pace) -> None:
        self.declared_length = declared_length
        self._receive = receive
        self._pace = pace
        self._ended = declared_length == 0

    def chunks(self) -> AsyncIterator[bytes]:
        return self

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        while not self._ended:
            message = await self._pace.keep(self._receive, _body_size)
            if message["type"] != "http.request":
                self._ended = True
                raise Invalid("The body ended before its declared end.")
            self._ended = not message.get("more_body", False)
            data: bytes = message.get("body", b"")
            if data:
                return bytes(data)
        raise StopAsyncIteration


def _request(scope: Scope) -> Request:
    headers = Headers((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"])
    raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope.get("query_string", b"")
    target = raw_path.partition(b"?")[0] + (b"?" + query if query else b"")
    client = scope.get("client")
    return Request(
        method=scope.get("method", "GET"),
        target=target.decode("latin-1"),
        headers=headers,
        peer=client[0] if client else "",
        secure=scope.get("scheme") in {"https", "wss"},
    )


def _body_size(message: Message) -> int:
    return len(message.get("body", b""))


async def _gone(receive: Receive) -> None:
    """Return once the client has closed. Before that, the front reports only the empty body."""
    while (await receive())["type"] == "http.request":
        pass


def _declared_length(scope: Scope, headers: Headers) -> int | None:
    """The length from the framing. HTTP/2 may send a body without announcing it; with a GET that is not looked for."""
    length = headers.get("content-length")
    if length is not None and length.isascii() and length.isdigit():
        return int(length)
    is_http1 = scope.get("http_version", "").startswith("1")
    unannounced = headers.get("transfer-encoding") is not None or not (is_http1 or scope.get("method") == "GET")
    return None if unannounced else 0


def _start(kind: str, response: Response) -> Message:
    fields = list(response.headers)
    length = len(response.body) if isinstance(response.body, bytes) else response.content_length
    if length is not None and response.status not in BODILESS:
        fields.append(("content-length", str(length)))
    return {"type": kind, "status": response.status, "headers": _encode_fields(fields)}


def _encode_fields(fields: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("ascii"), value.encode("latin-1")) for name, value in fields]


async def _refuse_upgrade(scope: Scope, response: Response, send: Send) -> None:
    """Send the ordinary response if the front supports it, else ASGI's plain refusal (403)."""
    if _REFUSAL_EXTENSION not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close"})
        return
    body = response.body if isinstance(response.body, bytes) else b""
    await send(_start(f"{_REFUSAL_EXTENSION}.start", response))
    await send({"type": f"{_REFUSAL_EXTENSION}.body", "body": body, "more_body": False})


async def _lifespan(receive: Receive, send: Send) -> None:
    """Agree to everything: the application is built before its front starts, and outlives it."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
