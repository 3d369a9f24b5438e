"""Connections that speak HTTP/2: Hypercorn parses, frames and closes idle ones.

Hypercorn's server for one connection is used as its own accept loop uses it, with these changes. In that loop a
connection whose client is gone stays until its idle time is over and the next WebSocket ping is due; one whose client
reads nothing stays for ever; a head may take all of the idle time; and on drain idle connections close at once, though
a request may be on its way. What is changed in a single call is in :mod:`~svc.surface.hypercorn_calls`. It bounds
neither the requests that a client begins and gives up, nor the frames that it parses in one go; data of a request that
was answered before its end closes the connection, with all its other requests; and some of what a client may send
raises an error that nobody there handles. It writes each method in capitals, and takes every method ``CONNECT`` for a
WebSocket.

Owns the connections that are open. It reads no HTTP/1.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, cast

import trio
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, RequestReceived
from h2.events import Event as H2Event
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes
from hypercorn.config import Config as HypercornConfig
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol import ProtocolWrapper
from hypercorn.protocol.events import Body
from hypercorn.protocol.events import Event as StreamEvent
from hypercorn.protocol.h2 import H2Protocol
from hypercorn.protocol.ws_stream import WSStream
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.tcp_server import MAX_RECV, TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework, ConnectionState
from hyperframe.frame import ContinuationFrame, HeadersFrame
from priority.priority import PriorityError

from svc.log import Log
from svc.protocol import AsgiFace, Limits
from svc.surface.hypercorn_calls import Face

MAX_STREAMS: Final = 100
"""Requests at a time of one HTTP/2 connection. Beyond: the client waits."""
MAX_RUNNING: Final = 2 * MAX_STREAMS
"""Requests of one HTTP/2 connection that are worked on, with those that their client gave up. Beyond: the connection
closes."""
FRAMES_BYTES: Final = 2 * 1024
"""HTTP/2 frames that are parsed in one go: a hundred of the smallest. Beyond: other connections have their turn
first."""
_KIND_OF_FRAME: Final = slice(3, 4)
_FRAMES_OF_HEADS: Final = (bytes([HeadersFrame.type]), bytes([ContinuationFrame.type]))
_UNSERVABLE: Final = (PriorityError, UnicodeDecodeError, UnboundLocalError)
"""What Hypercorn raises for valid frames of HTTP/2 that it does not expect: more priorities than it keeps, a path or a
method that is not ASCII, a head without a path."""
_TUNNEL: Final = "CONNECT"
_SOCKET_VERSIONS: Final = [b"13"]

Head = list[tuple[bytes, bytes]]


@dataclass(frozen=True, kw_only=True)
class Http2:
    """What all connections have in common; ``connections`` are those that are open."""

    face: AsgiFace
    settings: HypercornConfig
    log: Log
    limits: Limits
    message_bytes: int
    worker: WorkerContext = field(default_factory=lambda: WorkerContext(None))
    connections: set[_Connection] = field(default_factory=set)

    async def serve(self, stream: trio.abc.Stream, begun: bytes, *, peer: str, is_secure: bool) -> None:
        """Serve ``stream``, from which ``begun`` was read, until either side closes it."""
        connection = _Connection(self, stream, begun, peer=peer, is_secure=is_secure)
        self.connections.add(connection)
        try:
            await connection.run()
        finally:
            self.connections.discard(connection)

    async def drain(self, work: trio.Nursery) -> None:
        """Ask each client to begin nothing new; a moment later the idle ones close."""
        for one in tuple(self.connections):
            work.start_soon(one.take_no_more)
        await trio.sleep(self.limits.drain_idle_s)
        await self.worker.terminated.set()


class _Streams(dict[int, Any]):
    """The requests of an HTTP/2 connection. One that was answered before its end is no longer among them."""

    def __init__(self, connection: H2Connection) -> None:
        super().__init__()
        self._connection = connection

    def __missing__(self, stream_id: int) -> _Answered:
        return _Answered(self._connection, stream_id)


@dataclass(frozen=True)
class _Answered:
    """A request that was answered: what its client goes on sending is passed over, and it is asked to stop."""

    connection: H2Connection
    stream_id: int

    async def handle(self, event: StreamEvent) -> None:
        if isinstance(event, Body):
            with suppress(ProtocolError):  # it was asked already
                self.connection.reset_stream(self.stream_id, ErrorCodes.NO_ERROR)


class _Protocol(H2Protocol):
    """``methods``: of the requests, as their clients wrote them."""

    def __init__(self, *args: Any, methods: dict[int, str]) -> None:
        super().__init__(*args)
        self.streams = _Streams(self.connection)
        self._methods = methods

    async def _create_stream(self, request: RequestReceived) -> None:
        """A method in small letters is another method. Only who opens a WebSocket gets one; who tries to and fails
        asks for its address like anybody else, and hears there what is missing."""
        head = request.headers
        method = _value(head, b":method").decode("ascii")
        if method.upper() == _TUNNEL and not _opens_socket(head):
            tries_to = method == _TUNNEL and _value(head, b":protocol") == b"websocket"
            method = "GET" if tries_to else method
            request.headers = [(name, b"GET" if name == b":method" else value) for name, value in head]
        self._methods[request.stream_id] = method
        await super()._create_stream(request)

    async def _handle_events(self, events: list[H2Event]) -> None:
        """A frame that comes before its WebSocket is accepted ends the WebSocket: Hypercorn would refuse it with a 400,
        beside whatever the application answers, and never tell the application."""
        for event in events:
            if isinstance(event, DataReceived) and self._is_early(event.stream_id):
                self.connection.reset_stream(event.stream_id, ErrorCodes.PROTOCOL_ERROR)
                await self._close_stream(event.stream_id)
            await super()._handle_events([event])

    def _is_early(self, stream_id: int) -> bool:
        stream = self.streams.get(stream_id)
        return isinstance(stream, WSStream) and not stream.closed and not stream.handshake.accepted


def _opens_socket(head: Head) -> bool:
    """A tunnel that has no path is not decided about here: Hypercorn serves none."""
    if _value(head, b":method") != _TUNNEL.encode():
        return False
    if not _value(head, b":path"):
        return True
    versions = [value for name, value in head if name == b"sec-websocket-version"]
    return _value(head, b":protocol") == b"websocket" and versions == _SOCKET_VERSIONS


def _value(head: Head, wanted: bytes) -> bytes:
    return next((value for name, value in head if name == wanted), b"")


class _Connection(TCPServer):
    """Ends as soon as its client is gone: no task waits any longer once all received data was handed on."""

    def __init__(self, common: Http2, stream: trio.abc.Stream, begun: bytes, *, peer: str, is_secure: bool) -> None:
        self._over = trio.Event()
        self._face = Face(cast(ASGIFramework, common.face), message_bytes=common.message_bytes)
        self._log = common.log
        self._limits = common.limits
        self._begun = begun
        self._peer = peer
        self._is_secure = is_secure
        self._is_idle = True
        self._reading = trio.CancelScope()
        ends_with_it = _UntilOver(common.worker, self._over)
        super().__init__(self._face, common.settings, ends_with_it, ConnectionState({}), cast(Any, stream))

    async def run(self) -> None:
        """As Hypercorn's own, for what is known to speak HTTP/2."""
        try:
            async with TaskGroup() as self._task_group:
                client = (self._peer, 0)
                begin = (self.app, self.config, self.context, self._task_group, ConnectionState(self.state))
                self._http2 = _Protocol(
                    *begin, self._is_secure, client, None, self.protocol_send, methods=self._face.methods
                )
                self.protocol = cast(ProtocolWrapper, self._http2)
                await self._http2.initiate()
                await self.idle_task.restart(self._task_group, self._idle_timeout)
                await self._read_data()
        finally:
            await self._close()

    async def take_no_more(self) -> None:
        """Ask the client to begin nothing new on this connection. What it has begun is answered."""
        with suppress(ProtocolError):  # it is closed already
            self._http2.connection.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: 0})
            await self.protocol_send(RawData(self._http2.connection.data_to_send()))

    async def _read_data(self) -> None:
        with self._reading:
            data = self._begun or await self._receive()
            while data:
                for piece in _pieces(data):
                    if not await self._hand_on(piece):
                        break
                self._bound_head()
                data = await self._receive()
            await self._http2.handle(RawData(b""))
        if self._reading.cancelled_caught:
            self._reading.deadline = math.inf
            await self._end(ErrorCodes.ENHANCE_YOUR_CALM)
        await self._http2.handle(Closed())
        self._over.set()
        await self.idle_task.stop()

    async def _receive(self) -> bytes:
        """The next bytes; empty once there are no more."""
        most = self._limits.read_bytes if self._is_idle else MAX_RECV
        try:
            return bytes(await self.stream.receive_some(most))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return b""

    async def _hand_on(self, piece: bytes) -> bool:
        """Whether the connection goes on after this piece: the others have their turn, and what it began has begun to
        run."""
        try:
            await self._http2.handle(RawData(piece))
        except _UNSERVABLE as error:
            self._log.warning("http.not_understood", peer=self._peer, said=str(error))
            await self._end(ErrorCodes.PROTOCOL_ERROR)
            return False
        await trio.lowlevel.checkpoint()
        if self._face.running <= MAX_RUNNING:
            return True
        self._log.warning("http.too_many_requests_given_up", peer=self._peer)
        await self._end(ErrorCodes.ENHANCE_YOUR_CALM)
        return False

    async def _end(self, code: ErrorCodes) -> None:
        with suppress(ProtocolError):  # it is closed already
            self._http2.connection.close_connection(code)
            await self.protocol_send(RawData(self._http2.connection.data_to_send()))
        await self.protocol_send(Closed())

    def _bound_head(self) -> None:
        """The time of a head runs from its first byte."""
        if not self._has_begun_head():
            self._reading.deadline = math.inf
        elif self._reading.deadline == math.inf:
            self._reading.deadline = trio.current_time() + self._limits.head_s

    def _has_begun_head(self) -> bool:
        """Whether a head has begun and has not ended."""
        frames = self._http2.connection.incoming_buffer
        return bool(frames._headers_buffer) or frames._data[_KIND_OF_FRAME] in _FRAMES_OF_HEADS

    async def _idle_timeout(self) -> None:
        """On drain a connection is idle for a moment before it closes."""
        began = trio.current_time()
        with trio.move_on_after(self.config.keep_alive_timeout):
            await self.context.terminated.wait()
            await trio.sleep_until(began + self._limits.drain_idle_s)
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
        await self._http2.handle(Closed())

    async def _close_if_cancelled(self) -> None:
        try:
            await trio.lowlevel.checkpoint_if_cancelled()
        except trio.Cancelled:
            await trio.aclose_forcefully(self.stream)
            raise


def _pieces(data: bytes) -> Iterator[bytes]:
    """Small ones: the smallest frames of HTTP/2 cost far more than their bytes."""
    return (data[start : start + FRAMES_BYTES] for start in range(0, len(data), FRAMES_BYTES))


class _UntilOver(WorkerContext):
    """A sleep between two pings ends when the connection is over."""

    def __init__(self, shared: WorkerContext, over: trio.Event) -> None:
        super().__init__(None)
        self.terminate, self.terminated = shared.terminate, shared.terminated
        self._over = over

    async def sleep(self, wait: float) -> None:  # type: ignore[override]  # theirs is static, and called on a context
        with trio.move_on_after(wait):
            await self._over.wait()
