"""The client for all outgoing HTTP requests of the service.

Owns the connection pool and the policy: verified TLS; a total deadline that includes the body; a size limit that is
counted while streaming, after decompression; and nothing is sent that the caller did not say (no cookies, no
``.netrc``, no proxy variables, no redirects followed). An answer that is passed on while it arrives
(:meth:`Egress.open`) has no total deadline, but a limit for each silence. A failure is an :class:`EgressFault`, which
says whether the other side may have acted on the request. Its text names only method and origin, since a path or query
may hold a secret. It never retries.

It reaches every host, since its callers know theirs. An address that a stranger wrote goes through
:mod:`svc.protocol.pinned`, which reaches public servers only (:mod:`svc.protocol.addresses`).
"""

from __future__ import annotations

import errno
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Literal, Self

import httpx2
import trio

from svc import __version__
from svc.protocol.messages import Headers
from svc.protocol.trust import system_trust

USER_AGENT: Final = f"svc/{__version__}"
CONNECTIONS_MAX: Final = 100
IDLE_CONNECTIONS_MAX: Final = 20
IDLE_CONNECTION_S: Final = 15.0

FaultKind = Literal["connect", "name", "tls", "timeout", "closed", "too_large", "protocol"]

_NO_WAY: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN})
_GZIP_WBITS: Final = 16 + zlib.MAX_WBITS
_PIECE_BYTES: Final = 64 * 1024
_SWITCHING_PROTOCOLS: Final = 101
_HUNG_UP: Final = ("Server disconnected", "peer closed", "peer unexpectedly closed")  # in h11 and httpcore2
_REQUEST_BEGINS: Final = "send_request_headers.started"


@dataclass(frozen=True, kw_only=True)
class EgressResponse:
    """A complete answer, of any status; ``body`` is decompressed."""

    status: int
    headers: Headers
    body: bytes


class EgressFault(Exception):
    """There is no answer, or none that can be used.

    ``may_have_happened`` is False only when not one byte of the request was sent.
    """

    def __init__(self, kind: FaultKind, detail: str, *, may_have_happened: bool) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind: FaultKind = kind
        self.detail = detail
        self.may_have_happened = may_have_happened


class Egress:
    """The client, as an async context manager. ``tls`` replaces the system's trust in tests and private deployments.

    ``socket_path``: all requests go to the program that listens on this socket, whatever host their URL names.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None, socket_path: str | None = None) -> None:
        self._tls = tls
        self._socket_path = socket_path
        self._made: httpx2.AsyncHTTPTransport | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._made is not None:
            await self._made.__aexit__(kind, error, trace)

    @property
    def _transport(self) -> httpx2.AsyncHTTPTransport:
        """Made with the first request: a service that makes no HTTP requests saves 4 MiB."""
        if self._made is None:
            # Only the transport, not the client around it: it has no cookies, redirects, credentials or environment.
            self._made = httpx2.AsyncHTTPTransport(
                verify=self._tls or (system_trust() if self._socket_path is None else False),
                trust_env=False,
                uds=self._socket_path,
                limits=httpx2.Limits(
                    max_connections=CONNECTIONS_MAX,
                    max_keepalive_connections=IDLE_CONNECTIONS_MAX,
                    keepalive_expiry=IDLE_CONNECTION_S,
                ),
            )
        return self._made

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        deadline_s: float,
        limit_bytes: int,
    ) -> EgressResponse:
        """Send one request and read the whole answer. Raises :class:`EgressFault`."""
        exchange = _Exchange(method, limit_bytes=limit_bytes)
        request = exchange.build(url, headers=headers or {}, body=body)
        response: EgressResponse | None = None
        fault: EgressFault | None = None
        with trio.move_on_after(deadline_s):
            try:
                response = await exchange.run(self._transport, request)
            except EgressFault as error:
                fault = error
            except (httpx2.HTTPError, httpx2.StreamError) as error:
                fault = exchange.translate(error)
        if response is not None:
            return response
        # Raised outside of the block, so that no library exception (its text may quote a header) is attached as
        # context.
        raise fault or exchange.fault("timeout", f"no whole answer within {deadline_s:g} s")

    async def upload(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        pieces: AsyncIterator[bytes],
        length: int,
        idle_s: float,
        limit_bytes: int,
    ) -> EgressResponse:
        """Send a body of ``length`` bytes while it is produced, and read the whole answer. Raises :class:`EgressFault`,
        and whatever ``pieces`` raises.

        ``idle_s``: the limit for sending one piece, and for the answer after the last piece.
        """
        exchange = _Exchange(method, limit_bytes=limit_bytes)
        response: EgressResponse | None = None
        fault: EgressFault | None = None
        with trio.move_on_after(idle_s) as scope:

            async def paced() -> AsyncIterator[bytes]:
                async for piece in pieces:
                    scope.deadline = trio.current_time() + idle_s
                    yield piece
                scope.deadline = trio.current_time() + idle_s

            sized = {**headers, "content-length": str(length)}
            try:
                if not length and [piece async for piece in paced()]:  # they may find out that "empty" is wrong
                    raise exchange.fault("protocol", "the body has more than its length")
                request = exchange.build(url, headers=sized, body=paced() if length else b"")
                response = await exchange.run(self._transport, request)
            except EgressFault as error:
                fault = error
            except (httpx2.HTTPError, httpx2.StreamError) as error:
                fault = exchange.translate(error)
        if response is not None:
            return response
        raise fault or exchange.fault("timeout", f"nothing moved for {idle_s:g} s")

    async def open(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        head_s: float,
        idle_s: float,
        slowest_bytes_s: float | None = None,
    ) -> EgressStream:
        """Send one request and wait for the head of its answer. Raises :class:`EgressFault`.

        ``idle_s``: how long the body may be silent. ``slowest_bytes_s``: so many bytes a second must come on the whole,
        once ``idle_s`` are over; the time in which nobody reads does not count. The body has no content encoding: none
        is offered.
        """
        exchange = _Exchange(method)
        request = exchange.build(url, headers={**headers, "accept-encoding": "identity"}, body=body or None)
        fault: EgressFault | None = None
        with trio.move_on_after(head_s):
            try:
                response = await exchange.opened(self._transport, request)
                return EgressStream(exchange, response, idle_s=idle_s, slowest_bytes_s=slowest_bytes_s)
            except EgressFault as error:
                fault = error
            except (httpx2.HTTPError, httpx2.StreamError) as error:
                fault = exchange.translate(error)
        raise fault or exchange.fault("timeout", f"no answer began within {head_s:g} s")


class EgressStream:
    """An answer of any status, whose body is read while it arrives. The caller who opened it closes it."""

    def __init__(
        self, exchange: _Exchange, response: httpx2.Response, *, idle_s: float, slowest_bytes_s: float | None
    ) -> None:
        self.status = response.status_code
        self.headers = _fields(response)
        self._exchange = exchange
        self._response = response
        self._idle_s = idle_s
        self._slowest_bytes_s = slowest_bytes_s
        self._left_s = idle_s
        self._pieces = response.aiter_raw()

    async def receive(self) -> bytes:
        """The next piece of the body, never decompressed; empty at the end. Raises :class:`EgressFault`."""
        fault: EgressFault | None = None
        slowest, began = self._slowest_bytes_s, trio.current_time()
        with trio.move_on_after(self._idle_s if slowest is None else min(self._idle_s, max(self._left_s, 0.0))):
            try:
                piece = await anext(self._pieces, b"")
            except (httpx2.HTTPError, httpx2.StreamError) as error:
                fault = self._exchange.translate(error)
            else:
                if slowest is not None:
                    self._left_s += len(piece) / slowest - (trio.current_time() - began)
                return piece
        if fault is None and slowest is not None and trio.current_time() - began < self._idle_s:
            raise self._exchange.fault("timeout", f"it sends less than {slowest:g} bytes a second")
        raise fault or self._exchange.fault("timeout", f"nothing more came within {self._idle_s:g} s")

    async def aclose(self) -> None:
        await _close(self._response)


class _Exchange:
    """One request in progress: what a fault may say about it, and whether it has been sent."""

    def __init__(self, method: str, *, limit_bytes: int = 0) -> None:
        self._method = method
        self._origin = ""
        self._limit_bytes = limit_bytes
        self._has_left = False

    def build(
        self, url: str, *, headers: Mapping[str, str], body: bytes | AsyncIterator[bytes] | None
    ) -> httpx2.Request:
        try:
            parsed = httpx2.URL(url)
        except httpx2.InvalidURL:
            parsed = None
        if parsed is None or parsed.scheme not in {"http", "https"} or not parsed.host or parsed.userinfo:
            raise self.fault("protocol", "the address is not a plain http or https URL")
        self._origin = str(parsed.copy_with(raw_path=b"/", fragment=None)).removesuffix("/")
        fields = {"user-agent": USER_AGENT, "accept": "*/*", "accept-encoding": "gzip"}
        fields |= {name.lower(): value for name, value in headers.items()}
        try:
            return httpx2.Request(
                self._method, parsed, headers=fields, content=body, extensions={"trace": self._notice}
            )
        except UnicodeEncodeError:
            problem = "a header is not ASCII"
        raise self.fault("protocol", problem)

    async def run(self, transport: httpx2.AsyncHTTPTransport, request: httpx2.Request) -> EgressResponse:
        response = await self._answered(transport, request)
        try:
            body = await self._read(response)
        finally:
            await _close(response)
        return EgressResponse(status=response.status_code, headers=_fields(response), body=body)

    async def opened(self, transport: httpx2.AsyncHTTPTransport, request: httpx2.Request) -> httpx2.Response:
        """The answer, whose body is still to be read. Raises if it has a content encoding."""
        response = await self._answered(transport, request)
        if _coding(response) != "identity":
            await _close(response)
            raise self._not_offered()
        return response

    async def _answered(self, transport: httpx2.AsyncHTTPTransport, request: httpx2.Request) -> httpx2.Response:
        response = await transport.handle_async_request(request)
        if response.status_code == _SWITCHING_PROTOCOLS:
            await _close(response)
            raise self.fault("protocol", "the server switched protocols unasked")
        return response

    def _not_offered(self) -> EgressFault:
        return self.fault("protocol", "the answer has an encoding that was not offered")

    def translate(self, error: httpx2.HTTPError | httpx2.StreamError) -> EgressFault:
        """Reword a library's exception: its own text may quote what was sent or received."""
        tls = _tls_error(error)
        if tls is not None:
            return self.fault("tls", getattr(tls, "verify_message", "") or tls.reason or "the handshake failed")
        if isinstance(error, httpx2.ConnectError):
            return self._no_connection(error)
        if isinstance(error, httpx2.NetworkError) or str(error).startswith(_HUNG_UP):
            return self.fault("closed", "the connection broke before the answer was whole")
        return self.fault("protocol", "the exchange was not valid HTTP")

    def _no_connection(self, error: BaseException) -> EgressFault:
        """No connection was made: because of the name, the other machine, or the route to it."""
        causes = list(_causes(error))
        if any(isinstance(one, socket.gaierror) for one in causes):
            return self.fault("name", "its name can't be resolved")
        if any(isinstance(one, ConnectionRefusedError) for one in causes):
            return self.fault("connect", "it refuses connections")
        if any(isinstance(one, OSError) and one.errno in _NO_WAY for one in causes):
            return self.fault("connect", "there is no way to it")
        return self.fault("connect", "no connection")

    def fault(self, kind: FaultKind, detail: str) -> EgressFault:
        return EgressFault(kind, f"{self._method} {self._origin}: {detail}", may_have_happened=self._has_left)

    async def _notice(self, event: str, info: object) -> None:
        self._has_left = self._has_left or event.endswith(_REQUEST_BEGINS)

    async def _read(self, response: httpx2.Response) -> bytes:
        coding = _coding(response)
        gunzip = _Gunzip() if coding in {"gzip", "x-gzip"} else None
        if gunzip is None and coding != "identity":
            raise self._not_offered()
        body = bytearray()
        async for chunk in response.aiter_raw():
            try:
                for piece in gunzip.pieces(chunk) if gunzip else (chunk,):
                    if len(body) + len(piece) > self._limit_bytes:
                        raise self.fault("too_large", f"the answer has more than {self._limit_bytes} bytes")
                    body += piece
            except zlib.error:
                raise self.fault("protocol", "the answer is not valid gzip") from None
        if gunzip and not gunzip.is_whole:
            raise self.fault("closed", "the compressed answer ends early")
        return bytes(body)


def _fields(response: httpx2.Response) -> Headers:
    return Headers([(name.lower(), value) for name, value in response.headers.multi_items()])


def _coding(response: httpx2.Response) -> str:
    return (response.headers.get("content-encoding") or "identity").strip().lower()


async def _close(response: httpx2.Response) -> None:
    with trio.CancelScope(shield=True, deadline=trio.current_time() + 1):
        await response.aclose()


class _Gunzip:
    """Decompresses in bounded pieces and knows whether it has seen the end: zlib itself accepts a truncated stream."""

    def __init__(self) -> None:
        self._decompressor = zlib.decompressobj(_GZIP_WBITS)
        self._has_begun = False

    @property
    def is_whole(self) -> bool:
        """The end was seen, or there was no data at all (an answer to HEAD, a 304)."""
        return self._decompressor.eof or not self._has_begun

    def pieces(self, data: bytes) -> Iterator[bytes]:
        self._has_begun = self._has_begun or bool(data)
        while data:
            yield self._decompressor.decompress(data, _PIECE_BYTES)
            data = self._decompressor.unconsumed_tail
        if self._decompressor.unused_data:
            raise zlib.error("bytes after the end")


def _tls_error(error: BaseException) -> ssl.SSLError | None:
    """The TLS failure behind a library's exception, if there is one."""
    return next((one for one in _causes(error) if isinstance(one, ssl.SSLError)), None)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, its causes, and the members of the groups among them."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting.append(one.__cause__ or one.__context__)
        waiting.extend(one.exceptions if isinstance(one, BaseExceptionGroup) else ())
