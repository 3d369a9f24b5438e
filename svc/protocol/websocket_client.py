"""A WebSocket client (RFC 6455), for a server that an admin has named: for services that answer while we still send.

Owns the connection, the handshake and their deadline, the limits on a message and on a silence. It verifies TLS as the
HTTP client does, sends nothing that its caller did not say, and follows no redirect. A fault names only the host: a
path or a header may hold a secret.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, Protocol
from urllib.parse import urlsplit

import trio
from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Event,
    Ping,
    RejectConnection,
    Request,
    TextMessage,
)
from wsproto.utilities import ProtocolError

from svc.protocol.trust import system_trust

MAX_MESSAGE_BYTES: Final = 1024 * 1024
"""A message of the server. Beyond: the connection is given up."""
SEND_S: Final = 20.0
"""Time until the server has taken one message. Beyond: the connection is given up."""
CLOSE_S: Final = 3.0

_READ_BYTES: Final = 16 * 1024
_TOO_BIG: Final = 1009
_PORTS: Final = {"ws": 80, "wss": 443}


class ConnectFault(Exception):
    """The connection failed. ``status`` is the server's HTTP answer, if it sent one."""

    def __init__(self, detail: str, *, status: int | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status


class Connect(Protocol):
    """The signature of :func:`connect_websocket`."""

    async def __call__(self, url: str, *, headers: Sequence[tuple[str, str]], deadline_s: float) -> ClientSocket: ...


async def connect_websocket(url: str, *, headers: Sequence[tuple[str, str]], deadline_s: float) -> ClientSocket:
    """Connect to ``ws://`` or ``wss://``. Raises :class:`ConnectFault`."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    with trio.move_on_after(deadline_s):
        stream = await _stream(host, parts.port or _PORTS[parts.scheme], tls=parts.scheme == "wss")
        socket = ClientSocket(stream)
        try:
            await socket.shake_hands(host=parts.netloc, target=target or "/", headers=headers)
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise
        return socket
    raise ConnectFault(f"{host} did not answer within {deadline_s:g} seconds")


class ClientSocket:
    """One task receives, any number send. :func:`connect_websocket` makes it; the caller closes it."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.close_reason = ""
        """The reason that the server gave when it closed."""
        self._stream = stream
        self._frames = WSConnection(ConnectionType.CLIENT)
        self._events: deque[Event] = deque()
        self._partial: list[str | bytes] = []
        self._partial_size = 0
        self._closed = False
        self._writing = trio.Lock()

    async def shake_hands(self, *, host: str, target: str, headers: Sequence[tuple[str, str]]) -> None:
        extra = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers]
        await self._write(self._frames.send(Request(host=host, target=target, extra_headers=extra)))
        event = await self._event()
        if isinstance(event, AcceptConnection):
            return
        if isinstance(event, RejectConnection):
            raise ConnectFault(f"answers {event.status_code}", status=event.status_code)
        raise ConnectFault("does not speak WebSocket there")

    async def receive(self) -> str | bytes | None:
        """The next whole message; ``None`` once either side has ended the connection."""
        while not self._closed:
            event = await self._event()
            if isinstance(event, TextMessage | BytesMessage):
                message = self._assembled(event)
                if message is not None:
                    return message
            elif isinstance(event, Ping):
                await self.send_event(event.response())
            elif event is None or isinstance(event, CloseConnection):
                await self._end(event)
        return None

    async def send(self, message: str | bytes) -> None:
        """Send one message, and wait until the system took it. If the connection is over, the message is dropped: the
        receiver sees the end."""
        event: Event = TextMessage(data=message) if isinstance(message, str) else BytesMessage(data=message)
        await self.send_event(event)

    async def send_event(self, event: Event) -> None:
        if not self._closed:
            await self._write(self._frames.send(event))

    async def aclose(self) -> None:
        """Send a Close and close the connection."""
        with trio.CancelScope(shield=True, deadline=trio.current_time() + CLOSE_S):
            if not self._closed:
                await self._end(None)
                await self._write(self._frames.send(CloseConnection(code=1000)), late=True)
        await trio.aclose_forcefully(self._stream)

    def _assembled(self, event: TextMessage | BytesMessage) -> str | bytes | None:
        self._partial.append(event.data if isinstance(event.data, str) else bytes(event.data))
        self._partial_size += len(event.data)
        if self._partial_size > MAX_MESSAGE_BYTES:
            self._closed = True
            self.close_reason = "its message is too large"
            return None
        if not event.message_finished:
            return None
        parts, self._partial, self._partial_size = self._partial, [], 0
        if isinstance(event, TextMessage):
            return "".join(part for part in parts if isinstance(part, str))
        return b"".join(part for part in parts if isinstance(part, bytes))

    async def _end(self, event: CloseConnection | None) -> None:
        self._closed = True
        if event is not None:
            self.close_reason = (event.reason or f"code {int(event.code)}")[:200]
            await self._write(self._frames.send(event.response()), late=True)

    async def _event(self) -> Event | None:
        """The next event; ``None`` if the connection broke."""
        while not self._events:
            try:
                data = bytes(await self._stream.receive_some(_READ_BYTES))
                self._frames.receive_data(data or None)
                self._events.extend(self._frames.events())
            except (trio.BrokenResourceError, trio.ClosedResourceError, ProtocolError):
                return None
            if not data and not self._events:
                return None
        return self._events.popleft()

    async def _write(self, data: bytes, *, late: bool = False) -> None:
        async with self._writing:
            if self._closed and not late:
                return
            with trio.move_on_after(SEND_S) as scope:
                try:
                    await self._stream.send_all(data)
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    self._closed = self._closed or late  # the receiver sees the end by itself
            if scope.cancelled_caught:
                self._closed = True
                await trio.aclose_forcefully(self._stream)


async def _stream(host: str, port: int, *, tls: bool) -> trio.abc.Stream:
    try:
        plain = await trio.open_tcp_stream(host, port)
    except OSError as error:
        raise ConnectFault(f"{host} can't be reached") from error
    if not tls:
        return plain
    secure = trio.SSLStream(plain, system_trust(), server_hostname=host, https_compatible=True)
    try:
        await secure.do_handshake()
    except BaseException as error:
        await trio.aclose_forcefully(secure)
        if isinstance(error, trio.BrokenResourceError):
            raise ConnectFault(f"{host} does not prove who it is") from error
        raise
    return secure
