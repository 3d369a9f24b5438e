"""The second front: Hypercorn's trio worker serves the public port, with TLS and HTTP/2.

Hypercorn parses, frames and closes idle connections. Guard, routes, errors and headers are those of the same
application. The number of connections is limited as in our own front, but none are reserved for probes. Imported only
if this front is chosen, because Hypercorn is an extra (`svc[hypercorn]`).

Hypercorn's server for one connection is used as its own accept loop uses it, with these changes. In that loop a
connection whose client is gone stays until its idle time is over and the next WebSocket ping is due; one whose client
reads nothing stays for ever; a head may take all of the idle time; and on drain idle connections close at once, though
a request may be on its way. What is changed in a single call is in :mod:`~svc.surface.hypercorn_calls`. Of HTTP/2 it
bounds neither the requests that a client begins and gives up, nor the frames that it parses in one go; data of a
request that was answered before its end closes the connection, with all its other requests; and some of what a client
may send raises an error that nobody there handles.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from ssl import SSLContext
from typing import Any, Final, cast

import trio
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes
from hypercorn.config import Config as HypercornConfig
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.logging import Logger
from hypercorn.protocol.events import Body
from hypercorn.protocol.events import Event as StreamEvent
from hypercorn.protocol.h2 import H2Protocol
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.tcp_server import MAX_RECV, TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework, ConnectionState
from hyperframe.frame import ContinuationFrame, HeadersFrame
from priority.priority import PriorityError

from svc.config import Config
from svc.doors import Crowd, Shortage, ToTheLast, turn_away
from svc.errors import Refusal
from svc.log import Log
from svc.nursery import Child
from svc.protocol import (
    DEFAULT_LIMITS,
    Application,
    AsgiFace,
    Drain,
    Limits,
    SocketLimits,
    StrictConnection,
    encode_head,
    is_readable,
)
from svc.settings import DRAIN_S, TLS_CERT_FILE, TLS_KEY_FILE
from svc.surface.hypercorn_calls import Face

HANDSHAKE_S: Final = 10.0
"""A TLS handshake, from the connection on. Beyond: the connection closes."""
MAX_STREAMS: Final = 100
"""Requests at a time of one HTTP/2 connection. Beyond: the client waits."""
MAX_RUNNING: Final = 2 * MAX_STREAMS
"""Requests of one HTTP/2 connection that are worked on, with those that their client gave up. Beyond: the connection
closes."""
FRAMES_BYTES: Final = 2 * 1024
"""HTTP/2 frames that are parsed in one go: a hundred of the smallest. Beyond: other connections have their turn
first."""
_SOCKETS: Final = SocketLimits()
_KIND_OF_FRAME: Final = slice(3, 4)
_FRAMES_OF_HEADS: Final = (bytes([HeadersFrame.type]), bytes([ContinuationFrame.type]))
_UNSERVABLE: Final = (PriorityError, UnicodeDecodeError, UnboundLocalError)
"""What Hypercorn raises for valid frames of HTTP/2 that it does not expect: more priorities than it keeps, a path or a
method that is not ASCII, a head without a path."""


async def serve_by_hypercorn(
    child: Child,
    listeners: Sequence[trio.SocketListener],
    application: Application[Any],
    *,
    config: Config,
    slots: trio.Semaphore,
    shortage: Shortage,
    limits: Limits = DEFAULT_LIMITS,
    sockets: SocketLimits = _SOCKETS,
) -> None:
    """Serve until the intake is cancelled. Then the port closes, and requests in flight have the drain's time."""
    drain = Drain()
    settings = _settings(config, log=child.log, limits=limits, sockets=sockets)
    face = AsgiFace(application, log=child.log, drain=drain, limits=limits)
    shared = _Shared(
        application=application,
        face=partial(Face, cast(ASGIFramework, face), message_bytes=sockets.message_bytes),
        settings=settings,
        log=child.log,
        crowd=Crowd(child.log),
        limits=limits,
    )
    child.work.start_soon(_pass_on_drain, child, drain, shared)
    handler = partial(_serve, shared=shared, tls=settings.create_ssl_context(), slots=slots)
    to_the_last = [ToTheLast(one, partial(child.work.start_soon, handler), shortage) for one in listeners]
    await trio.serve_listeners(handler, to_the_last, handler_nursery=child.work)


@dataclass(frozen=True, kw_only=True)
class _Shared:
    """What all connections have in common; ``connections`` are those that are open."""

    application: Application[Any]
    face: Callable[[], Face]
    settings: HypercornConfig
    log: Log
    crowd: Crowd
    limits: Limits
    worker: WorkerContext = field(default_factory=lambda: WorkerContext(None))
    connections: set[_Connection] = field(default_factory=set)


async def _serve(plain: trio.SocketStream, *, shared: _Shared, tls: SSLContext | None, slots: trio.Semaphore) -> None:
    """Serve one connection if there is room for it."""
    stream = plain if tls is None else trio.SSLStream(plain, tls, server_side=True, https_compatible=True)
    try:
        slots.acquire_nowait()
    except trio.WouldBlock:
        await turn_away(stream, crowd=shared.crowd, date=shared.application.http_date())
        return
    shared.crowd.within()
    connection = _Connection(shared, stream)
    shared.connections.add(connection)
    try:
        await connection.run()
    except* Exception as group:  # a fault of Hypercorn's on one connection must not end the others
        shared.log.error("http.connection_failed", group)
        await trio.aclose_forcefully(stream)
    finally:
        shared.connections.discard(connection)
        slots.release()


class _Streams(dict[int, Any]):
    """The requests of an HTTP/2 connection. One that was answered before its end is no longer among them."""

    def __init__(self, connection: H2Connection, begun: dict[int, Any]) -> None:
        super().__init__(begun)
        self._connection = connection

    def __missing__(self, stream_id: int) -> _Answered:
        return _Answered(self._connection, stream_id)


@dataclass(frozen=True)
class _Answered:
    """A request that was answered: the rest that its client sends is ignored, and the client is asked to stop."""

    connection: H2Connection
    stream_id: int

    async def handle(self, event: StreamEvent) -> None:
        if isinstance(event, Body):
            with suppress(ProtocolError):  # it was asked already
                self.connection.reset_stream(self.stream_id, ErrorCodes.NO_ERROR)


class _Connection(TCPServer):
    """Ends as soon as its client is gone: no task waits any longer once all received data was handed on."""

    def __init__(self, shared: _Shared, stream: Any) -> None:
        self._over = trio.Event()
        self._application = shared.application
        self._face = shared.face()
        self._log = shared.log
        self._limits = shared.limits
        self._is_idle = True
        self._reading = trio.CancelScope()
        ends_with_it = _UntilOver(shared.worker, self._over)
        super().__init__(self._face, shared.settings, ends_with_it, ConnectionState({}), stream)

    @property
    def _http2(self) -> H2Protocol | None:
        wrapped = getattr(self, "protocol", None)  # there is none before the end of the TLS handshake
        return wrapped.protocol if wrapped is not None and isinstance(wrapped.protocol, H2Protocol) else None

    async def take_no_more(self) -> None:
        """Ask an HTTP/2 client to begin nothing new on this connection. What it has begun is answered."""
        if self._http2 is not None:
            with suppress(ProtocolError):  # it is closed already
                self._http2.connection.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: 0})
                await self.protocol_send(RawData(self._http2.connection.data_to_send()))

    async def _read_data(self) -> None:
        if isinstance(self.protocol.protocol, H11Protocol):
            self.protocol.protocol.connection = StrictConnection(self._limits)
        with self._reading:
            while data := await self._receive():
                for piece in self._pieces(data):
                    if not await self._hand_on(piece):
                        break
                self._bound_head()
            await self.protocol.handle(RawData(b""))
        if self._reading.cancelled_caught:
            await self._refuse(Refusal("The request head took too long.", code="request_timeout"))
        await self.protocol.handle(Closed())
        self._over.set()
        await self.idle_task.stop()

    async def _receive(self) -> bytes:
        """The next bytes; empty once there are no more."""
        most = self._limits.read_bytes if self._is_idle else MAX_RECV
        try:
            return bytes(await self.stream.receive_some(most))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return b""

    def _pieces(self, data: bytes) -> Iterator[bytes]:
        """Small ones of HTTP/2: its smallest frames cost far more than their bytes."""
        step = len(data) if self._http2 is None else FRAMES_BYTES
        return (data[start : start + step] for start in range(0, len(data), step))

    async def _hand_on(self, piece: bytes) -> bool:
        """Whether the connection goes on after this piece."""
        try:
            await self.protocol.handle(RawData(piece))
        except Refusal as refusal:
            await self._refuse(refusal)
            return False
        except _UNSERVABLE as error:
            if self._http2 is None:
                raise
            self._log.warning("http.not_understood", peer=self.protocol.client, said=str(error))
            await self._end_http2(self._http2, ErrorCodes.PROTOCOL_ERROR)
            return False
        return self._http2 is None or await self._may_go_on(self._http2)

    async def _may_go_on(self, http2: H2Protocol) -> bool:
        """After a piece of HTTP/2: the others have their turn, and what it began has begun to run."""
        if not isinstance(http2.streams, _Streams):
            http2.streams = _Streams(http2.connection, http2.streams)
        await trio.lowlevel.checkpoint()
        if self._face.running <= MAX_RUNNING:
            return True
        self._log.warning("http.too_many_requests_given_up", peer=self.protocol.client)
        await self._end_http2(http2, ErrorCodes.ENHANCE_YOUR_CALM)
        return False

    async def _end_http2(self, http2: H2Protocol, code: ErrorCodes) -> None:
        with suppress(ProtocolError):  # it is closed already
            http2.connection.close_connection(code)
            await self.protocol_send(RawData(http2.connection.data_to_send()))
        await self.protocol_send(Closed())

    def _bound_head(self) -> None:
        """The time of a head runs from its first byte."""
        if not self._has_begun_head():
            self._reading.deadline = math.inf
        elif self._reading.deadline == math.inf:
            self._reading.deadline = trio.current_time() + self._limits.head_s

    def _has_begun_head(self) -> bool:
        """Whether a head has begun and has not ended."""
        spoken = self.protocol.protocol
        if isinstance(spoken, H2Protocol):
            frames = spoken.connection.incoming_buffer
            return bool(frames._headers_buffer) or frames._data[_KIND_OF_FRAME] in _FRAMES_OF_HEADS
        return self._is_idle and bool(spoken.connection.trailing_data[0])

    async def _refuse(self, refusal: Refusal) -> None:
        """Answer a head that is refused before Hypercorn reads it, and close."""
        self._reading.deadline = math.inf  # or it would refuse once more, while this one lingers
        if self._http2 is not None:
            await self._end_http2(self._http2, ErrorCodes.ENHANCE_YOUR_CALM)
            return
        client = self.protocol.client
        response = self._application.fault(refusal, peer=client[0] if client else "", secure=self.protocol.ssl)
        head, _ = encode_head(response, is_http11=True, keep=False)
        await self._send(head + cast(bytes, response.body))
        with trio.move_on_after(self._limits.linger_silence_s):  # with bytes unread, closing would lose the answer
            if not self.protocol.ssl:
                with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                    await cast(trio.abc.HalfCloseableStream, self.stream).send_eof()
            while await self._receive():
                pass
        await self._close()

    async def _idle_timeout(self) -> None:
        """On drain a connection is idle for a moment before it closes, and a request that has come is answered."""
        began = trio.current_time()
        with trio.move_on_after(self.config.keep_alive_timeout):
            await self.context.terminated.wait()
            await trio.sleep_until(began + self._limits.drain_idle_s)
            plain = getattr(self.stream, "transport_stream", self.stream)
            if self._http2 is None and is_readable(plain.socket):
                return
        await trio.lowlevel.checkpoint_if_cancelled()  # a request was read just now: it ended the idle time
        with trio.move_on_after(self._limits.send_piece_s, shield=True):
            await self._initiate_server_close()

    async def protocol_send(self, event: Event) -> None:
        """Once the client is gone, drop ``Updated``: a late answer must not make the connection wait for a next
        request."""
        if isinstance(event, Updated):
            self._is_idle = event.idle
            self._reading.deadline = math.inf
        if isinstance(event, RawData):
            await self._send(event.data)
        elif not (self._over.is_set() and isinstance(event, Updated)):
            await super().protocol_send(event)

    async def _send(self, data: bytes) -> None:
        """Send piece by piece. A client that does not take a piece in time loses the connection.

        Each is shielded: half a piece of one HTTP/2 stream would break all the others. A cancellation between two
        pieces closes the connection, since what comes after would be read as the rest of this.
        """
        step = self._limits.send_piece_bytes
        try:
            async with self.send_lock:
                for start in range(0, len(data), step):
                    if start:
                        await self._close_if_cancelled()
                    with trio.fail_after(self._limits.send_piece_s, shield=True):
                        await self.stream.send_all(data[start : start + step])
            return
        except trio.TooSlowError:
            await trio.aclose_forcefully(self.stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.BusyResourceError):
            pass  # busy: another task closes it just now
        await self.protocol.handle(Closed())

    async def _close_if_cancelled(self) -> None:
        try:
            await trio.lowlevel.checkpoint_if_cancelled()
        except trio.Cancelled:
            await trio.aclose_forcefully(self.stream)
            raise


class _UntilOver(WorkerContext):
    """A sleep between two pings ends when the connection is over."""

    def __init__(self, shared: WorkerContext, over: trio.Event) -> None:
        super().__init__(None)
        self.terminate, self.terminated = shared.terminate, shared.terminated
        self._over = over

    async def sleep(self, wait: float) -> None:  # type: ignore[override]  # theirs is static, and called on a context
        with trio.move_on_after(wait):
            await self._over.wait()


async def _pass_on_drain(child: Child, drain: Drain, shared: _Shared) -> None:
    await child.wait_draining()
    drain.begin()
    for one in tuple(shared.connections):
        child.work.start_soon(one.take_no_more)
    await trio.sleep(shared.limits.drain_idle_s)
    await shared.worker.terminated.set()


def _settings(config: Config, *, log: Log, limits: Limits, sockets: SocketLimits) -> HypercornConfig:
    certificate, key = config[TLS_CERT_FILE], config[TLS_KEY_FILE]
    settings = HypercornConfig()
    settings.certfile = str(certificate) if certificate is not None else None
    settings.keyfile = str(key) if key is not None else None
    settings.ssl_handshake_timeout = HANDSHAKE_S
    settings.keep_alive_timeout = limits.idle_s
    settings.keep_alive_max_requests = limits.requests_per_connection
    settings.h11_max_incomplete_size = limits.head_bytes
    settings.h2_max_header_list_size = limits.head_bytes
    settings.h2_max_concurrent_streams = MAX_STREAMS
    settings.websocket_ping_interval = sockets.ping_interval_s
    settings.websocket_max_message_size = sockets.message_bytes
    settings.graceful_timeout = float(config[DRAIN_S])
    settings.include_server_header = settings.include_date_header = False  # every answer of ours has its date
    settings.errorlog = None
    settings.logger_class = cast(type[Logger], partial(_FrontLog, log=log))
    return settings


class _FrontLog(Logger):
    """Writes Hypercorn's messages into our log. It does not log requests: the application already does."""

    def __init__(self, config: HypercornConfig, *, log: Log) -> None:
        super().__init__(config)
        self._log = log

    async def warning(self, message: str, *args: Any, **kwargs: Any) -> None:
        self._log.warning("http.front", said=message % args if args else message)

    async def error(self, message: str, *args: Any, **kwargs: Any) -> None:
        await self.warning(message, *args)

    async def critical(self, message: str, *args: Any, **kwargs: Any) -> None:
        await self.warning(message, *args)

    async def exception(self, message: str, *args: Any, **kwargs: Any) -> None:
        """Called where an exception is handled."""
        self._log.error("http.front", sys.exception(), said=message % args if args else message)
