"""HTTP/1.1 (RFC 9112): one task per connection; requests are answered in the order of their arrival.

Theory. A connection is a sequence of cycles: wait for a head, answer it, skip the rest of its body, start again. The
handler reads the body while it answers. Pipelining needs no code: the next head waits in the buffer until the cycle
before it is over. After any 400 or protocol fault the connection closes, since the start of the next request is then a
guess. Connections that wait for a request are in one queue (:mod:`svc.protocol.idle`), which also closes them on drain.
Steps that may be slow have the deadline of the connection's one cancel scope.

Owns the cycle, the deadlines of waiting and sending, and the framing of answers. It never decides what a request means,
and never outlives its stream.
"""

from __future__ import annotations

import errno
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, Literal

import trio

from svc.errors import Refusal
from svc.log import Log
from svc.protocol.accepted import AcceptedSocket
from svc.protocol.application import Application
from svc.protocol.body import StreamBody
from svc.protocol.direct import Direct, has_come
from svc.protocol.drain import Drain
from svc.protocol.head import Head, HeadParser
from svc.protocol.idle import Idle
from svc.protocol.limits import DEFAULT_LIMITS, Limits
from svc.protocol.messages import BytesBody, FileBody, Producer, Request, Response, Sendable, pour
from svc.protocol.response_head import BODILESS, close_body, encode_head
from svc.protocol.strict import HEAD_END
from svc.protocol.websocket import SocketLimits, serve_socket
from svc.protocol.wire_input import PeerGone, WireInput

_BAD_REQUEST: Final = 400
_TOO_LARGE: Final = frozenset({"uri_too_long", "request_header_fields_too_large"})
_RPC_LINE: Final = re.compile(rb"(?:\r\n)?[A-Z]{1,10} /trpc/")
_CANNOT_SEND: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP})  # a file or a system that can't do it
_HTTP2_BEGINS: Final = b"PRI * HTTP/2.0"  # RFC 9113, 3.4: to HTTP/1.1 it is a head, so that none takes it for a request
_NO_BODY: Final = BytesBody()
_SOCKET_LIMITS: Final = SocketLimits()

Phase = Literal["idle", "head", "answer", "over"]
AnyApplication = Application[Any]  # the edge: the context of its rows does not matter here


async def serve_connection(
    stream: trio.abc.Stream,
    application: AnyApplication,
    *,
    log: Log,
    peer: str,
    drain: Drain,
    idle: Idle,
    secure: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    socket_limits: SocketLimits | None = None,
    http2: Callable[[bytes], Awaitable[None]] | None = None,
) -> None:
    """Serve ``stream`` until either side closes it. Raises nothing but bugs and cancellation.

    The task that runs ``idle`` closes a connection that waits too long for a request, and on drain. ``http2`` takes
    over a connection that begins as HTTP/2, with the bytes that have come; without it, that is a version not spoken.
    """
    connection = _Connection(
        stream, application, log=log, peer=peer, secure=secure, limits=limits, drain=drain, idle=idle
    )
    connection.may_be_http2 = http2 is not None
    try:
        accepted = await connection.run()
        if connection.is_http2 and http2 is not None:
            begun = _HTTP2_BEGINS + HEAD_END + bytes(connection.wire.buffer)
            del connection
            await http2(begun)
        elif accepted is not None:
            leftover = bytes(connection.wire.buffer)
            del connection  # a socket lives long, and needs nothing of the connection
            request, socket = accepted
            await serve_socket(
                stream,
                accepted=socket,
                request=request,
                leftover=leftover,
                limits=socket_limits or _SOCKET_LIMITS,
                log=log,
                drain=drain,
            )
    except PeerGone:
        log.debug("http.connection_lost", peer=peer)
    finally:
        await trio.aclose_forcefully(stream)


class _Connection:
    def __init__(
        self,
        stream: trio.abc.Stream,
        application: AnyApplication,
        *,
        log: Log,
        peer: str,
        secure: bool,
        limits: Limits,
        drain: Drain,
        idle: Idle,
    ) -> None:
        self._direct = Direct.of(stream)
        self.wire = WireInput(stream, limits, direct=self._direct)
        self._stream = stream
        self._application = application
        self._log = log
        self._peer = peer
        self._secure = secure
        self._limits = limits
        self._drain = drain
        self._idle = idle
        self._heads = HeadParser(limits)
        self._scope = trio.CancelScope()
        self._phase: Phase = "idle"
        self._accepted: tuple[Request, AcceptedSocket] | None = None
        self.may_be_http2 = self.is_http2 = False

    async def run(self) -> tuple[Request, AcceptedSocket] | None:
        """Answer requests. The stream stays open for an accepted upgrade, which is returned, and for ``is_http2``."""
        with self._drain.on_begin(self._linger_shorter), self._scope:
            try:
                await self._cycle()
            except Refusal as refusal:
                await self._refuse(refusal)
            finally:
                self._idle.end(self)
        if self._scope.cancelled_caught and self._phase == "head":
            with trio.move_on_after(self._limits.linger_s):
                await self._refuse(Refusal("The request head took too long.", code="request_timeout"))
        elif self._scope.cancelled_caught and self._phase == "answer":
            self._log.info("http.slow_reader", peer=self._peer)
        return self._accepted

    def close_if_idle(self) -> None:
        """Close the connection if it is idle. A request that has arrived but is not read yet is still answered."""
        if self._phase == "idle" and not has_come(self._stream):
            self._scope.cancel()

    def _linger_shorter(self) -> None:
        if self._phase == "over":
            self._scope.deadline = trio.current_time() + self._limits.drain_idle_s

    async def _cycle(self) -> None:
        for remaining in range(self._limits.requests_per_connection - 1, -1, -1):
            head = await self._next_head()
            if head is None or not await self._answer(head, may_go_on=remaining > 0):
                return

    async def _next_head(self) -> Head | None:
        """The next request's head; ``None`` when the client sends no more or the service drains."""
        self._phase = "idle"
        if self.wire.buffer:
            await trio.lowlevel.checkpoint()  # a client that pipelines must not keep the others waiting
        while (raw := self.wire.take_head()) is None:
            if self.wire.buffer and self._phase == "idle":
                self._idle.end(self)
                self._phase = "head"
                self._scope.deadline = trio.current_time() + self._limits.head_s
            elif self._phase == "idle":
                if self._drain():
                    if not await self._receive_in_drain():
                        return None
                    continue
                self._idle.begin(self)
            if not await self.wire.receive():
                return None
        if self._phase == "head":
            self._scope.deadline = math.inf
        else:
            self._idle.end(self)
        self._phase = "answer"
        if self.may_be_http2 and raw == _HTTP2_BEGINS:
            self.is_http2 = True
            return None
        self.may_be_http2 = False
        try:
            return self._heads.parse(raw)
        except Refusal:
            self.wire.buffer[:0] = raw  # the refusal looks at it once more; nothing after it is read
            raise

    async def _receive_in_drain(self) -> int:
        """The last request of this connection may be on its way. Bytes that come with the deadline are taken."""
        if has_come(self._stream):
            return await self.wire.receive()
        with trio.move_on_after(self._limits.drain_idle_s):
            return await self.wire.receive()
        return 0

    async def _answer(self, head: Head, *, may_go_on: bool) -> bool:
        """One cycle. True when another one may follow."""
        body = self._body_of(head)
        request = Request(
            method=head.method,
            target=head.target,
            headers=head.fields.headers,
            body=body or _NO_BODY,
            peer=self._peer,
            secure=self._secure,
            gone=self._gone if body is None else None,
            draining=self._drain.event,
        )
        if head.is_http11 and head.fields.wants_websocket:
            outcome = await self._application.upgrade(request)
            if isinstance(outcome, AcceptedSocket):
                self._accepted = (request, outcome)
                return False
            response = outcome
        else:
            response = await self._application(request)
        if body is not None:
            await self._check_untouched(body, response)
        keep = may_go_on and head.keep_alive and response.status != _BAD_REQUEST and not self._drain()
        keep = keep and (body is None or body.worth_finishing)
        if not await self._send(request, head, response, keep=keep):
            return False
        if keep and body is not None:
            keep = await body.skip()
        if not keep:
            await self._linger()
        return keep

    async def _gone(self) -> None:
        """Return once the client has closed the connection. What it sends meanwhile is kept, within limits."""
        while len(self.wire.buffer) < self._limits.head_bytes:
            if not await self.wire.receive():
                return
        await trio.sleep_forever()

    def _body_of(self, head: Head) -> StreamBody | None:
        length = head.fields.length
        if length == 0:
            return None
        send_continue = self._write if head.fields.expects_continue else None
        return StreamBody(self.wire, length=length, send_continue=send_continue, limits=self._limits)

    async def _check_untouched(self, body: StreamBody, response: Response) -> None:
        """A malformed body makes a malformed request, even if its handler did not need the body."""
        try:
            with trio.move_on_after(self._limits.unread_body_s):
                await body.check_untouched()
        except Refusal:
            await close_body(response.body)
            raise

    async def _send(self, request: Request, head: Head, response: Response, *, keep: bool) -> bool:
        """Write the answer. False when it broke off, so that nothing may follow it."""
        try:
            start, chunked = encode_head(response, is_http11=head.is_http11, keep=keep)
        except ValueError as error:
            await close_body(response.body)
            response = self._application.broke(request, error)
            start, chunked = encode_head(response, is_http11=head.is_http11, keep=keep)
        has_body = request.method != "HEAD" and response.status not in BODILESS
        if isinstance(response.body, bytes):
            await self._write_whole(start + response.body if has_body else start)
            return True
        try:
            await self._write(start)
            return not has_body or await self._stream_body(request, response, response.body, chunked=chunked)
        finally:
            await close_body(response.body)

    async def _stream_body(
        self, request: Request, response: Response, body: AsyncIterator[bytes] | Producer, *, chunked: bool
    ) -> bool:
        size = 0

        async def write(piece: bytes) -> None:
            nonlocal size
            size += len(piece)
            if response.content_length is not None and size > response.content_length:
                raise RuntimeError("a response body is longer than it was announced")
            if piece:
                await self._write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)

        try:
            if isinstance(body, FileBody) and not chunked and await self._send_file(body, response.content_length):
                return True
            await pour(body, write)
            if response.content_length not in (None, size):
                raise RuntimeError("a response body is shorter than it was announced")
        except Exception as error:  # the head is already sent: the only way to report an error is to cut the connection
            if _is_gone(error):
                raise PeerGone from error
            self._log.error("http.answer_cut", error, request_id=request.id)
            return False
        if chunked:
            await self._write(b"0\r\n\r\n")
        return True

    async def _send_file(self, body: FileBody, length: int | None) -> bool:
        """Let the system send the file. False if it can't: nothing is sent then, and it has to be sent piece by
        piece."""
        if self._direct is None or (part := await body.opened()) is None:
            return False
        try:
            if part.left != length:
                raise RuntimeError("a response body is of another length than was announced")
            return await self._send_part(self._direct, part)
        finally:
            part.close()

    async def _send_part(self, direct: Direct, part: Sendable) -> bool:
        """The client has the usual time for each piece; the time that the disk takes is not counted."""
        left_s, taken, began = self._limits.send_piece_s, 0, part.left
        while part.left:
            try:
                sent = await part.send_to(direct.fileno())
            except OSError as error:
                if part.left == began and error.errno in _CANNOT_SEND:
                    return False
                raise PeerGone from error
            taken += sent
            if taken >= self._limits.send_piece_bytes:
                left_s, taken = self._limits.send_piece_s, 0
            if part.left:
                since = trio.current_time()
                self._scope.deadline = since + left_s
                await direct.writable()
                left_s -= trio.current_time() - since
                self._scope.deadline = math.inf
        return True

    async def _write_whole(self, data: bytes) -> None:
        """Write an answer that is complete. What the system takes at once needs no deadline and no switch to other
        tasks."""
        taken = self._direct.send(data) if self._direct is not None else 0
        if taken < len(data):
            await self._write(data[taken:])

    async def _write(self, data: bytes) -> None:
        """Write piece by piece. Each piece has its own deadline; a client that does not read in time loses the
        connection."""
        step = self._limits.send_piece_bytes
        for start in range(0, len(data), step):
            self._scope.deadline = trio.current_time() + self._limits.send_piece_s
            await self._send_all(data if len(data) <= step else data[start : start + step])
        self._scope.deadline = math.inf

    async def _send_all(self, data: bytes) -> None:
        try:
            await self._stream.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise PeerGone from error

    async def _refuse(self, refusal: Refusal) -> None:
        """Answer bytes that are not a valid request, and close."""
        self._idle.end(self)
        for_rpc = refusal.code in _TOO_LARGE and _RPC_LINE.match(self.wire.buffer) is not None
        response = self._application.fault(refusal, peer=self._peer, secure=self._secure, for_rpc=for_rpc)
        start, _ = encode_head(response, is_http11=True, keep=False)
        assert isinstance(response.body, bytes)
        await self._write(start + response.body)
        await self._linger()

    async def _linger(self) -> None:
        """Send the end of the stream and read on for a while: closing with unread bytes would reset the connection and
        lose our answer."""
        self._phase = "over"  # the answer is sent: a drain makes this shorter
        if self._drain():
            self._linger_shorter()
        if not isinstance(self._stream, trio.abc.HalfCloseableStream):
            return
        with trio.move_on_after(self._limits.linger_s), suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await self._stream.send_eof()
            left = self._limits.linger_bytes
            while left > 0:
                self.wire.buffer.clear()
                with trio.move_on_after(self._limits.linger_silence_s) as silence:
                    received = await self.wire.receive()
                if silence.cancelled_caught or not received:
                    return
                left -= received


def _is_gone(error: Exception) -> bool:
    """Whether the only fault is that the peer has gone; tasks of a body may have wrapped it in a group."""
    if isinstance(error, ExceptionGroup):
        return error.split(PeerGone)[1] is None
    return isinstance(error, PeerGone)
