"""WebSocket (RFC 6455): the face that features talk to, and the server that takes a connection over after its upgrade.

Theory. The opening handshake (section 4.2) is one HTTP request that names ``websocket``, version 13 and a nonce; the
answer proves that the server read the nonce. From then on both sides send frames (section 5): messages, which may be
fragmented, and control frames in between. Either side ends with a Close frame that the other answers (section 7); only
then is the connection closed, by the server first. wsproto reads the frames, we own the rest: limits, deadlines, pings.

Owns the handshake, liveness (ping and silence), the bound on a message, on a send and on the closing handshake. It
never decides who may connect (Host, Origin and access come before it), never compresses, and never queues what is sent:
a caller that must not wait brings its own bounded queue.
"""

from __future__ import annotations

import base64
import binascii
import struct
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import trio
from wsproto import ConnectionType
from wsproto.connection import Connection, ConnectionState
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, TextMessage
from wsproto.utilities import generate_accept_token

from svc.errors import Forbidden, Invalid, Refusal, Unavailable
from svc.log import Log
from svc.protocol.messages import HeaderList, Request, problem

NORMAL: Final = 1000
GOING_AWAY: Final = 1001
MESSAGE_TOO_BIG: Final = 1009

_VERSION: Final = "13"
_KEY_BYTES: Final = 16
_FIN_TEXT: Final = 0x81
_ONE_BYTE_LENGTH: Final = 125
_TWO_BYTE_MARK: Final = 126
_EIGHT_BYTE_MARK: Final = 127
_TWO_BYTE_LENGTH: Final = 0xFFFF


class SocketClosed(Exception):
    """There is nobody to send to any more. A handler may let it pass: it ends the handler, not the service."""


class Socket(ABC):
    """One WebSocket as a handler sees it. One task receives; any number may send.

    A handler spends its idle time in :meth:`receive`: that is where pings are answered and where a dead peer shows.
    """

    @abstractmethod
    async def accept(self, *, headers: Iterable[tuple[str, str]] = ()) -> None:
        """Complete the handshake. Before it, :meth:`close` and a raised ``Refusal`` are answered over HTTP."""

    @abstractmethod
    async def receive(self) -> str | bytes | None:
        """The next whole message; ``None`` once the socket is closed or the peer is gone."""

    @abstractmethod
    async def send(self, message: str | bytes) -> None:
        """Send one message and wait until the system took it. Raises :class:`SocketClosed`."""

    async def send_encoded(self, frame: bytes) -> None:
        """Send what :func:`encode_text_frame` made, so that one event to many sockets is encoded once."""
        await self.send(_text_of(frame))

    @abstractmethod
    async def close(self, code: int = NORMAL, reason: str = "") -> None:
        """Begin the closing handshake; :meth:`receive` then answers ``None``. Safe from any task, and twice."""


@dataclass(frozen=True, kw_only=True)
class SocketLimits:
    """Bounds of one socket. With the defaults a peer that vanished is noticed within 45 seconds."""

    message_bytes: int = 1024 * 1024
    """A message of a client, in all its fragments. Beyond: closed with 1009."""
    read_bytes: int = 16 * 1024
    """One receive. Beyond: the rest comes with the next."""
    ping_interval_s: float = 20.0
    """Between two pings of the service. Beyond: the next ping is sent."""
    silence_s: float = 45.0
    """Without a byte from the client, its answers to pings included. Beyond: the connection is cut."""
    send_deadline_s: float = 10.0
    """Until a client has taken one frame. Beyond: the connection is cut."""
    close_deadline_s: float = 3.0
    """Until a client has answered a Close. Beyond: the connection is cut."""


Handler = Callable[[Socket], Awaitable[None]]


def check_handshake(request: Request) -> None:
    """Refuse what is no opening handshake (RFC 6455 section 4.2.1): 426 for another version or no upgrade, else 400."""
    offered = {"sec-websocket-version": _VERSION, "upgrade": "websocket", "connection": "upgrade"}
    if "websocket" not in _tokens(request, "upgrade") or "upgrade" not in _tokens(request, "connection"):
        raise Refusal("This address speaks WebSocket only.", code="upgrade_required", headers=offered)
    if request.method != "GET":
        raise Invalid("A WebSocket handshake is a GET request.")
    if request.body.declared_length != 0:
        raise Invalid("A WebSocket handshake has no body.")
    versions = request.headers.all("sec-websocket-version")
    if not versions:
        raise Invalid("The header Sec-WebSocket-Version is missing.")
    if versions != [_VERSION]:
        raise Refusal("Only version 13 of WebSocket is spoken here.", code="upgrade_required", headers=offered)
    keys = request.headers.all("sec-websocket-key")
    if len(keys) != 1 or not _is_nonce(keys[0]):
        raise Invalid("The header Sec-WebSocket-Key must be the base64 text of 16 bytes, once.")


async def serve_socket(
    stream: trio.abc.Stream,
    *,
    request: Request,
    leftover: bytes,
    handler: Handler,
    limits: SocketLimits,
    log: Log,
    draining: trio.Event,
    headers: Iterable[tuple[str, str]] = (),
) -> None:
    """Take ``stream`` over after an upgrade request, run ``handler``, close the stream.

    ``leftover`` is what was read past the request's head; ``headers`` go into the 101 and into every refusal.
    Setting ``draining`` closes the socket with 1001.
    """
    socket = WsprotoSocket(stream, request=request, limits=limits, headers=list(headers))
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(socket.keep_alive, draining)
            with socket.life:
                await _run(handler, socket, request=request, leftover=leftover, log=log)
            await socket.finish()
            nursery.cancel_scope.cancel()
    finally:
        await trio.aclose_forcefully(stream)


def encode_text_frame(text: str) -> bytes:
    """One whole unmasked text frame (section 5.2): a server's frames are the same for every client."""
    payload = text.encode()
    length = len(payload)
    if length <= _ONE_BYTE_LENGTH:
        return bytes((_FIN_TEXT, length)) + payload
    if length <= _TWO_BYTE_LENGTH:
        return struct.pack("!BBH", _FIN_TEXT, _TWO_BYTE_MARK, length) + payload
    return struct.pack("!BBQ", _FIN_TEXT, _EIGHT_BYTE_MARK, length) + payload


class WsprotoSocket(Socket):
    """A server's socket on wsproto over any Trio stream. :func:`serve_socket` makes, runs and ends it."""

    def __init__(self, stream: trio.abc.Stream, *, request: Request, limits: SocketLimits, headers: HeaderList) -> None:
        self.life = trio.CancelScope()
        """What the handler runs in: once the socket has ended, the handler has a moment to return."""
        self.refusal: Refusal | None = None
        """Set when the handler closed the socket instead of accepting it."""
        self._stream = stream
        self._request = request
        self._limits = limits
        self._headers = headers
        self._frames: Connection | None = None  # None until accepted
        self._early = b""
        self._inbox: deque[str | bytes] = deque()
        self._partial = bytearray()
        self._writing = trio.Lock()
        self._torn = False  # a frame was cut in the middle: nothing sensible can follow it
        self._gone = False  # the peer does not answer any more
        self._ended = False  # we sent or answered a Close, or the peer is gone
        self._faulty = False  # the peer broke the protocol: the rest of its bytes mean nothing
        self._heard_at = trio.current_time()
        self._away_since: float | None = self._heard_at
        self._reading: trio.CancelScope | None = None  # the read under way; woken when the socket ends
        self._sending: trio.CancelScope | None = None  # the write under way; cut only when the peer is given up

    @property
    def accepted(self) -> bool:
        return self._frames is not None

    def feed_early(self, data: bytes) -> None:
        """Bytes that came right behind the request's head."""
        self._early = data

    async def accept(self, *, headers: Iterable[tuple[str, str]] = ()) -> None:
        key = self._request.headers.get("sec-websocket-key") or ""
        fields = [
            ("upgrade", "websocket"),
            ("connection", "Upgrade"),
            ("sec-websocket-accept", generate_accept_token(key.encode("ascii")).decode("ascii")),
            *self._headers,
            *headers,
        ]
        head = _head(HTTPStatus.SWITCHING_PROTOCOLS, fields)
        self._frames = Connection(ConnectionType.SERVER, trailing_data=self._early)  # a Close waits behind the head
        await self._write(head)
        self._heard_at = trio.current_time()

    async def receive(self) -> str | bytes | None:
        await trio.lowlevel.checkpoint()
        while not self._inbox and not self._ended:
            await self._advance()
        return self._inbox.popleft() if self._inbox else None

    async def send(self, message: str | bytes) -> None:
        if isinstance(message, str):
            await self.send_encoded(encode_text_frame(message))
        else:
            await self._send_event(BytesMessage(data=message))

    async def send_encoded(self, frame: bytes) -> None:
        if self._ended:
            raise SocketClosed
        await self._write(frame)

    async def close(self, code: int = NORMAL, reason: str = "") -> None:
        if self._ended:
            return
        self._inbox.clear()
        if self._frames is None:
            self.refusal = Unavailable(reason) if code == GOING_AWAY else Forbidden(reason)
            self._end()
            return
        await self._say_goodbye(CloseConnection(code=code, reason=reason))

    def abort(self) -> None:
        """Give the peer up without another word."""
        self._gone = True
        self._end()
        if self._sending is not None:
            self._sending.cancel()

    async def refuse(self, refusal: Refusal) -> None:
        """Answer over HTTP instead of the handshake."""
        response = problem(refusal)
        body = response.body if isinstance(response.body, bytes) else b""
        fields = [*response.headers, *self._headers, ("content-length", str(len(body))), ("connection", "close")]
        with suppress(SocketClosed):
            await self._write(_head(HTTPStatus(response.status), fields) + body)
        self._end()

    async def keep_alive(self, draining: trio.Event) -> None:
        """Ping, notice silence, and say goodbye when the service drains. Runs beside the handler."""
        next_ping = trio.current_time() + self._limits.ping_interval_s
        while not self._ended:
            with trio.move_on_at(min(next_ping, self._silence_ends_at())):
                await draining.wait()
                await self.close(GOING_AWAY, "The service is shutting down.")
                return
            if trio.current_time() >= self._silence_ends_at():
                self.abort()
                return
            if trio.current_time() >= next_ping:
                next_ping += self._limits.ping_interval_s
                await self._ping()

    async def finish(self) -> None:
        """End the handshake the way section 7.1.1 wants it: our Close, the peer's Close, then the connection."""
        if self._frames is None:
            return
        await self.close()
        with trio.move_on_after(self._limits.close_deadline_s):
            async with self._writing:
                pass  # a Close that another task is sending is let out first
            while not (self._gone or self._torn):
                for event in self._frames.events():
                    self._faulty = self._faulty or _is_fault(event, self._frames.state)
                if self._frames.state is not ConnectionState.LOCAL_CLOSING:
                    return
                if self._faulty:
                    await self._discard()
                else:
                    self._frames.receive_data(await self._read())

    async def _discard(self) -> None:
        """After a fault a Close is noise too: hang up at once, but read on, or a reset would eat our own Close."""
        if isinstance(self._stream, trio.abc.HalfCloseableStream):
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await self._stream.send_eof()
        while await self._read():
            pass

    async def _advance(self) -> None:
        """One step of receiving: the next parsed event, or else the next bytes."""
        if self._frames is None:
            raise RuntimeError("a socket is accepted before it receives")
        event = next(self._frames.events(), None)
        if event is not None:
            await self._on(event)
        else:
            data = b""
            with trio.CancelScope() as self._reading:
                data = await self._read()
            self._reading = None
            if not self._ended:
                self._frames.receive_data(data)

    async def _on(self, event: Event) -> None:
        if isinstance(event, TextMessage | BytesMessage):
            await self._assemble(event)
        elif isinstance(event, CloseConnection):
            assert self._frames is not None
            self._faulty = _is_fault(event, self._frames.state)
            await self._say_goodbye(event.response())
        elif isinstance(event, Ping):
            await self._answer(event)

    async def _assemble(self, event: TextMessage | BytesMessage) -> None:
        """Collect the fragments of a message; they count in bytes, as they come, before the whole is there."""
        whole = event.message_finished and not self._partial
        piece = event.data.encode() if isinstance(event.data, str) else event.data
        if len(self._partial) + len(piece) > self._limits.message_bytes:
            self._partial.clear()
            self._faulty = True
            reason = f"A message may have at most {self._limits.message_bytes} bytes."
            await self._say_goodbye(CloseConnection(code=MESSAGE_TOO_BIG, reason=reason))
        elif whole:
            self._inbox.append(event.data if isinstance(event.data, str) else bytes(event.data))
        else:
            self._partial += piece
            if event.message_finished:
                data = bytes(self._partial)
                self._partial.clear()
                self._inbox.append(data.decode() if isinstance(event, TextMessage) else data)

    async def _answer(self, ping: Ping) -> None:
        try:
            await self._send_event(ping.response())
        except SocketClosed:
            self.abort()

    async def _ping(self) -> None:
        if self._frames is None:
            return
        with trio.move_on_at(self._silence_ends_at()):
            try:
                await self._send_event(Ping())
            except SocketClosed:
                self.abort()

    async def _say_goodbye(self, event: CloseConnection) -> None:
        """Send the Close that begins or answers the closing handshake. Whatever comes of it, the socket has ended.

        Ending wakes the handler, which may cancel the task that closes: so the few bytes are shielded, for a moment.
        """
        assert self._frames is not None
        data = self._frames.send(event)
        self._end()
        try:
            with trio.fail_after(self._limits.close_deadline_s) as scope:
                scope.shield = True
                await self._write(data)
        except (SocketClosed, trio.TooSlowError):
            self._gone = True

    async def _send_event(self, event: Event) -> None:
        if self._ended:
            raise SocketClosed
        assert self._frames is not None
        await self._write(self._frames.send(event))

    async def _write(self, data: bytes) -> None:
        """Hand bytes to the system, one writer at a time. A peer that does not take them in time is given up."""
        async with self._writing:
            if self._torn or self._gone:
                raise SocketClosed
            self._torn = True  # until every byte is out
            with trio.move_on_after(self._limits.send_deadline_s) as self._sending:
                with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                    await self._stream.send_all(data)
                    self._torn = False
            self._sending = None
        if self._torn:
            self.abort()
            raise SocketClosed

    async def _read(self) -> bytes:
        """The next bytes; empty once there are no more."""
        self._listen()
        try:
            data = bytes(await self._stream.receive_some(self._limits.read_bytes))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            data = b""
        finally:
            self._away_since = trio.current_time()
        self._heard_at = trio.current_time()
        if not data:
            self.abort()
        return data

    def _listen(self) -> None:
        """Silence counts only while somebody listens: a handler at work must not make its peer look dead."""
        if self._away_since is not None:
            self._heard_at += trio.current_time() - self._away_since
            self._away_since = None

    def _silence_ends_at(self) -> float:
        listening = self._away_since is None
        return self._heard_at + self._limits.silence_s if listening else float("inf")

    def _end(self) -> None:
        """From here on nothing is received or sent; whoever waits for either is woken, the handler soon after."""
        self._ended = True
        self.life.deadline = min(self.life.deadline, trio.current_time() + self._limits.close_deadline_s)
        if self._reading is not None:
            self._reading.cancel()


async def _run(handler: Handler, socket: WsprotoSocket, *, request: Request, leftover: bytes, log: Log) -> None:
    """The edge around a handler: what it raises becomes a refusal over HTTP or a close code, never a crash."""
    refusal: Refusal | None = None
    try:
        check_handshake(request)
        socket.feed_early(leftover)
        await handler(socket)
    except* SocketClosed:
        pass
    except* Refusal as group:
        refusal = _first(group)
    except* Exception as group:
        log.error("socket handler failed", group, request_id=request.id, path=request.logged)
        refusal = Refusal(code="internal")
    if socket.accepted:
        if refusal is not None:
            await socket.close(refusal.row.close_code, refusal.detail)
    else:
        await socket.refuse(refusal or socket.refusal or Forbidden())


def _first(group: BaseExceptionGroup[Refusal]) -> Refusal:
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    assert isinstance(found, Refusal)
    return found


def _is_fault(event: Event, state: ConnectionState) -> bool:
    """wsproto reports a protocol fault as a Close event too; a real Close has moved the state."""
    return isinstance(event, CloseConnection) and state in {ConnectionState.OPEN, ConnectionState.LOCAL_CLOSING}


def _tokens(request: Request, name: str) -> set[str]:
    return {token.strip().lower() for value in request.headers.all(name) for token in value.split(",")}


def _is_nonce(key: str) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == _KEY_BYTES
    except (binascii.Error, ValueError):
        return False


def _head(status: HTTPStatus, fields: Iterable[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{name}: {value}" for name, value in fields)]
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a header field holds a line break")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _text_of(frame: bytes) -> str:
    """The text in a frame of :func:`encode_text_frame`."""
    head = {_TWO_BYTE_MARK: 4, _EIGHT_BYTE_MARK: 10}.get(frame[1], 2)
    return frame[head:].decode()
