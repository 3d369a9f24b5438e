"""WebSocket (RFC 6455): the server side, which takes over a connection after its upgrade.

Theory. The opening handshake (section 4.2) is one HTTP request that names ``websocket``, version 13 and a nonce; the
answer proves that the server read the nonce. From then on both sides send frames (section 5): messages, which may be
fragmented, and control frames in between. Either side ends with a Close frame that the other answers (section 7); only
then is the connection closed, by the server first. wsproto reads the frames; the rest is here: limits, deadlines,
pings.

Owns the handshake, liveness (ping and silence), the limits on a message, on a send and on the closing handshake. It
never decides who may connect (Host, Origin and access come before it), never compresses, and never queues messages to
send: a caller that must not wait brings its own bounded queue.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import trio
from wsproto import ConnectionType
from wsproto.connection import Connection, ConnectionState
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, TextMessage
from wsproto.utilities import generate_accept_token

from svc.errors import Forbidden, Refusal, Unavailable
from svc.log import Log
from svc.protocol.accepted import AcceptedSocket
from svc.protocol.direct import Direct
from svc.protocol.drain import Drain
from svc.protocol.handshake import check_handshake
from svc.protocol.message_bound import MessageBound, too_big
from svc.protocol.messages import Headers, Request, Response
from svc.protocol.response_head import encode_head
from svc.protocol.socket import (
    GOING_AWAY,
    MESSAGE_TOO_BIG,
    NORMAL,
    NUDGE,
    Nudge,
    Socket,
    SocketClosed,
    encode_text_frame,
)

_NO_HEADERS: Final = Headers()


@dataclass(frozen=True, kw_only=True)
class SocketLimits:
    """The limits of one socket. With the defaults, a peer that vanished is noticed within 45 seconds."""

    message_bytes: int = 1024 * 1024
    """A message of a client, in all its frames, by the lengths that they announce. Beyond: closed with 1009."""
    read_bytes: int = 16 * 1024
    """One receive. Beyond: the rest comes with the next."""
    ping_interval_s: float = 20.0
    """The time between two pings of the service. Beyond: the next ping is sent."""
    silence_s: float = 45.0
    """Time without a byte from the client; its answers to pings count. Beyond: the connection is cut."""
    send_deadline_s: float = 10.0
    """Time until a client has taken one frame. Beyond: the connection is cut."""
    close_deadline_s: float = 3.0
    """Time until a client has answered a Close. Beyond: the connection is cut."""


async def serve_socket(
    stream: trio.abc.Stream,
    *,
    accepted: AcceptedSocket,
    request: Request,
    leftover: bytes,
    limits: SocketLimits,
    log: Log,
    drain: Drain,
) -> None:
    """Take over ``stream`` after an upgrade request, run the handler, close the stream.

    ``leftover``: the bytes that were read after the request's head. When ``drain`` begins the socket is closed with
    1001, or refused if it is not open yet.
    """
    socket = WsprotoSocket(stream, accepted=accepted, request=request, limits=limits)
    drain.tell(socket.leave)
    try:
        with socket.life:
            await _run(accepted, socket, request=request, leftover=leftover, log=log)
        if socket.accepted:
            await socket.finish()
        else:
            await socket.refuse(accepted.refused(socket.refusal or Forbidden()))
    finally:
        drain.forget(socket.leave)
        await trio.aclose_forcefully(stream)


class WsprotoSocket(Socket):
    """A server's socket on wsproto over any Trio stream. :func:`serve_socket` makes, runs and ends it.

    Ten thousand of them may be idle. So the handler's task is the only one, and objects that only some need are made
    when needed.
    """

    __slots__ = (
        "_away_since",
        "_direct",
        "_early",
        "_ended",
        "_faulty",
        "_frames",
        "_gone",
        "_heard_at",
        "_inbox",
        "_is_leaving",
        "_is_nudged",
        "_limits",
        "_partial",
        "_ping_at",
        "_reading",
        "_request",
        "_rest",
        "_sending",
        "_stream",
        "_torn",
        "_upgrade",
        "_writing",
        "life",
        "refusal",
    )

    def __init__(
        self, stream: trio.abc.Stream, *, accepted: AcceptedSocket, request: Request, limits: SocketLimits
    ) -> None:
        self.life = trio.CancelScope()
        """The cancel scope of the handler: once the socket has ended, the handler has a short time to return."""
        self.refusal: Refusal | None = None
        """Set when the socket is not to be opened."""
        self._stream = stream
        self._direct = Direct.of(stream)
        self._request = request
        self._limits = limits
        self._upgrade: AcceptedSocket | None = accepted  # until the socket is open
        self._frames: Connection | None = None  # None until accepted
        self._early = b""
        self._inbox: list[str | bytes] = []
        self._partial = bytearray()
        self._writing: trio.Lock | None = None  # made for the first write that has to wait
        self._rest = b""  # the rest of a frame that the system took in part: it is sent before anything else
        self._is_nudged = False
        self._is_leaving = False  # the service drains
        self._torn = False  # a frame was cut in the middle: nothing valid can follow it
        self._gone = False  # the peer does not answer any more
        self._ended = False  # we sent or answered a Close, or the peer is gone
        self._faulty = False  # the peer broke the protocol: the rest of its bytes has no meaning
        self._heard_at = trio.current_time()
        self._ping_at = self._heard_at + limits.ping_interval_s
        self._away_since: float | None = self._heard_at
        self._reading: trio.CancelScope | None = None  # the current read; cancelled when the socket ends
        self._sending: trio.CancelScope | None = None  # the current write; cancelled only when the peer is given up

    @property
    def accepted(self) -> bool:
        return self._frames is not None

    def feed_early(self, data: bytes) -> None:
        """Bytes that arrived directly after the request's head."""
        self._early = data

    async def accept(self, *, headers: Iterable[tuple[str, str]] = ()) -> None:
        if self._upgrade is None or self._ended:
            raise SocketClosed
        key = self._request.headers.get("sec-websocket-key") or ""
        fields = [
            ("upgrade", "websocket"),
            ("connection", "Upgrade"),
            ("sec-websocket-accept", generate_accept_token(key.encode("ascii")).decode("ascii")),
            *self._upgrade.headers(),
            *headers,
        ]
        head = _head(fields)
        bound = MessageBound(self._limits.message_bytes)
        self._frames = Connection(ConnectionType.SERVER, [bound], trailing_data=self._early)  # it may hold a Close
        self._upgrade.opened()
        await self._write(head)
        self._heard_at = trio.current_time()
        # The handshake's headers, and the code that read it, use as much memory as an idle socket.
        self._request.headers, self._request.gone = _NO_HEADERS, None
        self._upgrade = None

    async def receive(self) -> str | bytes | None:
        await trio.lowlevel.checkpoint()
        while not self._inbox and not self._ended:
            await self._advance()
        return self._inbox.pop(0) if self._inbox else None

    async def listen(self) -> str | bytes | Nudge | None:
        await trio.lowlevel.checkpoint()
        while not self._inbox and not self._ended:
            if self._is_nudged:
                self._is_nudged = False
                return NUDGE
            await self._advance()
        return self._inbox.pop(0) if self._inbox else None

    def nudge(self) -> None:
        self._is_nudged = True
        self._wake()

    def send_now(self, frame: bytes) -> bool:
        if self._direct is None or self._ended or self._torn or self._rest or self._is_leaving or self._is_writing:
            return False
        taken = self._direct.send(frame)
        if 0 < taken < len(frame):
            self._rest = frame[taken:]
            self._wake()
        return taken > 0

    @property
    def _is_writing(self) -> bool:
        return self._writing is not None and self._writing.locked()

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
        """Give up the peer without sending anything more."""
        self._gone = True
        self._end()
        if self._sending is not None:
            self._sending.cancel()

    async def refuse(self, response: Response) -> None:
        """Answer over HTTP instead of the handshake."""
        assert isinstance(response.body, bytes)
        head, _ = encode_head(response, is_http11=True, keep=False)
        with suppress(SocketClosed):
            await self._write(head + response.body)
        self._end()

    def leave(self) -> None:
        """The service drains: send a Close, and end soon."""
        if self._frames is None and not self._ended:
            self.refusal = Unavailable("The service is shutting down.")
            self._end()
        elif not self._ended:
            self._is_leaving = True
            self.life.deadline = min(self.life.deadline, trio.current_time() + self._limits.close_deadline_s)
            self._wake()

    def _wake(self) -> None:
        if self._reading is not None:
            self._reading.cancel()

    async def finish(self) -> None:
        """End the connection as section 7.1.1 asks: our Close, the peer's Close, then the connection closes."""
        assert self._frames is not None
        await self._close()
        with trio.move_on_after(self._limits.close_deadline_s):
            if self._writing is not None:
                async with self._writing:
                    pass  # first let another task finish sending its Close
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
        """After a protocol fault the peer's Close has no meaning either: stop sending at once, but read on, or a reset
        would lose our own Close."""
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
            if not (self._inbox or self._ended):
                await trio.lowlevel.checkpoint()  # thousands of frames in one read must not block the other tasks
        elif self._is_leaving:
            await self._close()
        elif self._rest:
            await self._write(b"")
        else:
            await self._receive_more(self._frames)

    async def _receive_more(self, frames: Connection) -> None:
        """Wait for the next bytes. Meanwhile, send pings when they are due, and notice silence."""
        self._listen()
        data = None
        silence_ends_at = self._silence_ends_at()
        with trio.CancelScope(deadline=min(self._ping_at, silence_ends_at)) as self._reading:
            data = await self._read()
        self._reading = None
        now = trio.current_time()
        if self._ended:
            return
        if data is not None:
            frames.receive_data(data)
        elif now >= silence_ends_at:
            self.abort()
        elif now >= self._ping_at:
            self._ping_at += self._limits.ping_interval_s
            if self._ping_at <= now:  # nothing was read for a while
                self._ping_at = now + self._limits.ping_interval_s
            await self._ping()

    async def _close(self) -> None:
        if self._is_leaving:
            await self.close(GOING_AWAY, "The service is shutting down.")
        else:
            await self.close()

    async def _on(self, event: Event) -> None:
        if isinstance(event, TextMessage | BytesMessage):
            self._assemble(event)
        elif isinstance(event, CloseConnection):
            assert self._frames is not None
            self._faulty = _is_fault(event, self._frames.state)
            if self._faulty and event.code == MESSAGE_TOO_BIG:
                event = CloseConnection(code=event.code, reason=too_big(self._limits.message_bytes))
            await self._say_goodbye(event.response())
        elif isinstance(event, Ping):
            await self._answer(event)

    def _assemble(self, event: TextMessage | BytesMessage) -> None:
        """Collect the pieces of a message: its frames, and what each receive brought of them."""
        if event.message_finished and not self._partial:
            self._inbox.append(event.data if isinstance(event.data, str) else bytes(event.data))
        else:
            self._partial += event.data.encode() if isinstance(event.data, str) else event.data
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
        try:
            await self._send_event(Ping())
        except SocketClosed:
            self.abort()

    async def _say_goodbye(self, event: CloseConnection) -> None:
        """Send the Close that begins or answers the closing handshake. The socket has ended, even if sending fails.

        The end wakes the handler, which may cancel the task that closes: so sending these few bytes is shielded for a
        moment.
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
        """Pass bytes to the system, one writer at a time. A peer that does not take them in time is given up."""
        if self._direct is not None and not (self._torn or self._gone or self._rest or self._is_writing):
            taken = self._direct.send(data)
            if taken == len(data):
                await trio.lowlevel.cancel_shielded_checkpoint()  # lets other tasks run; what was sent stays sent
                return
            self._rest, data = data[taken:] if taken else b"", b"" if taken else data
        if self._writing is None:
            self._writing = trio.Lock()
        async with self._writing:
            if self._torn or self._gone:
                raise SocketClosed
            self._torn = True  # until every byte is out
            data, self._rest = self._rest + data, b""
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
            if self._direct is not None:
                data = await self._direct.receive(self._limits.read_bytes)
            else:
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
        """Silence counts only while a task reads: a busy handler must not make its peer look dead."""
        if self._away_since is not None:
            self._heard_at += trio.current_time() - self._away_since
            self._away_since = None

    def _silence_ends_at(self) -> float:
        return self._heard_at + self._limits.silence_s

    def _end(self) -> None:
        """From here on nothing is received or sent. Wakes a waiting reader at once, and soon cancels the handler."""
        self._ended = True
        self.life.deadline = min(self.life.deadline, trio.current_time() + self._limits.close_deadline_s)
        self._wake()


async def _run(accepted: AcceptedSocket, socket: WsprotoSocket, *, request: Request, leftover: bytes, log: Log) -> None:
    """Run a handler: an exception becomes a close code, or the refusal of a socket that is not open, never a crash."""
    refusal: Refusal | None = None
    try:
        check_handshake(request)
        socket.feed_early(leftover)
        await accepted.handle(socket)
    except* SocketClosed:
        pass
    except* Refusal as group:
        refusal = _first(group)
    except* Exception as group:
        log.error("socket handler failed", group, request_id=request.id, path=request.logged)
        refusal = Refusal(code="internal")
    if refusal is not None and socket.accepted:
        await socket.close(refusal.row.close_code, refusal.detail)
    elif refusal is not None:
        socket.refusal = refusal


def _first(group: BaseExceptionGroup[Refusal]) -> Refusal:
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    assert isinstance(found, Refusal)
    return found


def _is_fault(event: Event, state: ConnectionState) -> bool:
    """wsproto reports a protocol fault as a Close event too; only a real Close has changed the state."""
    return isinstance(event, CloseConnection) and state in {ConnectionState.OPEN, ConnectionState.LOCAL_CLOSING}


def _head(fields: Iterable[tuple[str, str]]) -> bytes:
    """The head of a 101."""
    lines = ["HTTP/1.1 101 Switching Protocols", *(f"{name}: {value}" for name, value in fields)]
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a header field holds a line break")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
