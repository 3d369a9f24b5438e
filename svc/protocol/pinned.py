"""The outgoing client for addresses that strangers wrote: it connects only by HTTPS, and only to public servers.

A name is resolved once, all its addresses must be public, and the connection goes to one of those checked addresses: a
name that resolves differently a moment later changes nothing. TLS is verified for the name, each redirect is checked
like a new address, and one deadline covers all of it. A request does not show who asks: no cookies, no referer, no name
of ours. A call with headers or a body from the caller (:meth:`PinnedEgress.request`, :meth:`PinnedEgress.open`) follows
no redirect.

Owns the parsing of such an address. :class:`Network` is the seam: how a name is resolved and how an address is
connected to.
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, Protocol
from urllib.parse import quote, urljoin

import h11
import trio

from svc.protocol.addresses import is_public_address
from svc.protocol.messages import Headers
from svc.protocol.trust import system_trust

HTTPS_PORT: Final = 443
MAX_URL_CHARS: Final = 8_192
MAX_HOST_CHARS: Final = 253
MAX_REDIRECTS: Final = 3
MAX_HEAD_BYTES: Final = 64 * 1024
MAX_ADDRESSES: Final = 64
"""A name with more addresses is refused: each of them would have to be public, and only a few are ever tried."""
MAX_ADDRESSES_TRIED: Final = 3
CONNECT_S: Final = 1.5
"""Limit for one address, so that a dead one does not use up the time of the others."""
RESOLVER_THREADS: Final = 8

FaultKind = Literal["refused", "unreachable", "tls", "timeout", "too_large", "protocol"]

_USER_AGENT: Final = "Mozilla/5.0"  # some servers refuse requests without one; this one names nobody
_READ_BYTES: Final = 16 * 1024
_BODILESS: Final = frozenset({"GET", "HEAD", "DELETE"})
"""Methods that announce no body when there is none."""
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

_URL: Final = re.compile(r"https://([^/?#\\]*)([^#]*)", re.IGNORECASE)
_REFUSED: Final = re.compile("[\x00-\x20\x7f-\x9f\ud800-\udfff]")
_DEVIATING: Final = re.compile("[\u00df\u03c2\u200c\u200d]")  # IDNA's two versions read these differently
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_SAFE_IN_TARGET: Final = "!$%&'()*+,/:;=?@[]^{|}~"


class PinnedFault(Exception):
    """There is no answer; the reason is in words for the person who asked. They never name a path or a query."""

    def __init__(self, kind: FaultKind, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind: FaultKind = kind
        self.detail = detail


@dataclass(frozen=True, kw_only=True)
class PinnedUrl:
    """``https://host/target``, read so that it has only one meaning: a host name of letters, and port 443."""

    host: str
    target: str

    def __str__(self) -> str:
        return f"https://{self.host}{self.target}"


@dataclass(frozen=True, kw_only=True)
class PinnedAnswer:
    """A complete answer of any status (except a followed redirect); ``body`` as received, never decompressed."""

    status: int
    headers: Headers
    body: bytes


class Network(Protocol):
    """The two operations on the network. Both raise ``OSError``; tests hand in their own."""

    async def resolve(self, host: str) -> Sequence[str]:
        """Every address that ``host`` has, as text."""
        ...

    async def connect(self, address: str, port: int) -> trio.abc.Stream: ...


class SystemNetwork:
    """The machine's resolver, in few threads: a stranger's name server that never answers delays only other such
    look-ups."""

    def __init__(self) -> None:
        self._limiter = trio.CapacityLimiter(RESOLVER_THREADS)

    async def resolve(self, host: str) -> Sequence[str]:
        # The final dot: use the name exactly, without the search domains of this machine's network.
        ask = partial(socket.getaddrinfo, f"{host}.", HTTPS_PORT, type=socket.SOCK_STREAM)
        found = await trio.to_thread.run_sync(ask, abandon_on_cancel=True, limiter=self._limiter)
        return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))

    async def connect(self, address: str, port: int) -> trio.abc.Stream:
        return await trio.open_tcp_stream(address, port)


class PinnedStream:
    """An answer of any status, whose body is read while it arrives. The caller who opened it closes it."""

    def __init__(self, exchange: _Exchange, head: h11.Response, *, idle_s: float) -> None:
        self.status = head.status_code
        self.headers = _fields(head)
        self._exchange = exchange
        self._idle_s = idle_s

    async def receive(self) -> bytes:
        """The next piece of the body; empty at the end. Raises :class:`PinnedFault`."""
        with trio.move_on_after(self._idle_s):
            return await self._exchange.receive()
        raise PinnedFault("timeout", f"nothing more came within {self._idle_s:g} seconds")

    async def aclose(self) -> None:
        await self._exchange.aclose()


class PinnedEgress:
    """``tls`` replaces the system's trust in tests."""

    def __init__(self, *, network: Network | None = None, tls: ssl.SSLContext | None = None) -> None:
        self._network: Network = network or SystemNetwork()
        self._tls = tls or system_trust()

    async def get(self, url: str, *, accept: str, deadline_s: float, limit_bytes: int) -> PinnedAnswer:
        """``GET``, with redirects followed, within ``deadline_s`` in total. Raises :class:`PinnedFault`."""
        with trio.move_on_after(deadline_s):
            return await self._follow(url, accept=accept, limit_bytes=limit_bytes)
        raise PinnedFault("timeout", f"there was no whole answer within {deadline_s:g} seconds")

    async def request(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes, deadline_s: float, limit_bytes: int
    ) -> PinnedAnswer:
        """Send one request and read the whole answer, even if it is a redirect. Raises :class:`PinnedFault`."""
        with trio.move_on_after(deadline_s):
            exchange = await self._exchange(pinned_url(url))
            try:
                return await exchange.run(method, headers=headers, body=body, limit_bytes=limit_bytes)
            finally:
                await exchange.aclose()
        raise PinnedFault("timeout", f"there was no whole answer within {deadline_s:g} seconds")

    async def open(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes, head_s: float, idle_s: float
    ) -> PinnedStream:
        """Send one request and read the head of its answer; ``idle_s``: how long the body may be silent.

        Raises :class:`PinnedFault`.
        """
        with trio.move_on_after(head_s):
            exchange = await self._exchange(pinned_url(url))
            try:
                return PinnedStream(exchange, await exchange.ask(method, headers=headers, body=body), idle_s=idle_s)
            except BaseException:
                await exchange.aclose()
                raise
        raise PinnedFault("timeout", f"no answer began within {head_s:g} seconds")

    async def _exchange(self, place: PinnedUrl) -> _Exchange:
        return _Exchange(place, await self._connect(place))

    async def _follow(self, url: str, *, accept: str, limit_bytes: int) -> PinnedAnswer:
        for _ in range(MAX_REDIRECTS + 1):
            place = pinned_url(url)
            exchange = await self._exchange(place)
            try:
                answer = await exchange.run("GET", headers={"accept": accept}, body=b"", limit_bytes=limit_bytes)
            finally:
                await exchange.aclose()
            if answer.status not in _REDIRECTS:
                return answer
            url = _redirected(place, answer.headers)
        raise PinnedFault("protocol", f"it leads through more than {MAX_REDIRECTS} redirects")

    async def _connect(self, place: PinnedUrl) -> trio.abc.Stream:
        """A verified TLS connection to one of the host's addresses, which were all found to be public."""
        try:
            addresses = await self._network.resolve(place.host)
        except (OSError, UnicodeError):
            raise PinnedFault("unreachable", _UNREACHABLE) from None
        if not 0 < len(addresses) <= MAX_ADDRESSES or not all(map(is_public_address, addresses)):
            raise PinnedFault("refused", _UNREACHABLE)
        stream = await self._connect_to_one(addresses)
        tls = trio.SSLStream(stream, self._tls, server_hostname=place.host, https_compatible=True)
        try:
            await tls.do_handshake()
        except BaseException as error:
            await trio.aclose_forcefully(stream)
            if isinstance(error, trio.BrokenResourceError):
                raise PinnedFault("tls", "its server does not prove who it is, or speaks no TLS") from None
            raise
        return tls

    async def _connect_to_one(self, addresses: Sequence[str]) -> trio.abc.Stream:
        for address in addresses[:MAX_ADDRESSES_TRIED]:
            with trio.move_on_after(CONNECT_S):
                try:
                    return await self._network.connect(address, HTTPS_PORT)
                except OSError:
                    continue
        raise PinnedFault("unreachable", _UNREACHABLE)


_UNREACHABLE: Final = "its server can't be reached, or is not on the public Internet"
"""One sentence for both, so that nobody learns which names exist in this network."""


def pinned_url(url: str) -> PinnedUrl:
    """Parse an address that may be requested. Raises :class:`PinnedFault` ``refused``.

    No user name, no port but 443, and no host that any resolver could take for a number: ``2130706433``, ``0x7f.1``,
    ``127.1`` and the same in full-width digits mean loopback to many of them.
    """
    found = _URL.match(url) if len(url) <= MAX_URL_CHARS and not _REFUSED.search(url) else None
    if found is None:
        raise PinnedFault("refused", "its address is not a plain https address")
    authority, rest = found.groups()
    name, colon, port = authority.partition(":")
    if colon and port not in {"", str(HTTPS_PORT)}:
        raise PinnedFault("refused", "its address names a port of its own")
    host = _host(name)
    if host is None:
        raise PinnedFault("refused", "its address names no host of the public Internet")
    path, question, query = rest.partition("?")
    path = path.replace("\\", "/") or "/"
    return PinnedUrl(host=host, target=quote(path + question + query, safe=_SAFE_IN_TARGET))


def _host(name: str) -> str | None:
    if len(name) > MAX_HOST_CHARS or _DEVIATING.search(name):
        return None
    try:
        host = name.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        return None
    labels = host.split(".")
    if len(host) > MAX_HOST_CHARS or len(labels) < 2 or not all(map(_LABEL.fullmatch, labels)):
        return None
    return None if _NUMBER.fullmatch(labels[-1]) else host


def _redirected(place: PinnedUrl, headers: Headers) -> str:
    try:
        return urljoin(str(place), (headers.get("location") or "").strip().replace(" ", "%20"))
    except ValueError:
        raise PinnedFault("refused", "it leads to an address that is none") from None


def _fields(head: h11.Response) -> Headers:
    return Headers([(name.decode(), value.decode("latin-1")) for name, value in head.headers])


class _Exchange:
    """One request and its answer on one connection."""

    def __init__(self, place: PinnedUrl, stream: trio.abc.Stream) -> None:
        self._place = place
        self._stream = stream
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
        self._received = 0

    async def run(self, method: str, *, headers: Mapping[str, str], body: bytes, limit_bytes: int) -> PinnedAnswer:
        head = await self.ask(method, headers=headers, body=body)
        fields = _fields(head)
        content = b"" if head.status_code in _REDIRECTS else await self._body(fields, limit_bytes=limit_bytes)
        return PinnedAnswer(status=head.status_code, headers=fields, body=content)

    async def ask(self, method: str, *, headers: Mapping[str, str], body: bytes) -> h11.Response:
        """Send the request and read the head of its answer."""
        fields = {"host": self._place.host, "user-agent": _USER_AGENT, **headers}
        fields |= {"accept-encoding": "identity", "connection": "close"}
        if body or method not in _BODILESS:
            fields["content-length"] = str(len(body))
        request = h11.Request(method=method, target=self._place.target, headers=list(fields.items()))
        parts = (request, h11.Data(data=body), h11.EndOfMessage())
        try:
            await self._stream.send_all(b"".join(self._connection.send(part) or b"" for part in parts))
            head = await self._head()
        except (h11.ProtocolError, trio.BrokenResourceError):
            raise _broke_off() from None
        codings = {value.strip().lower() for value in _fields(head).all("content-encoding")}
        if codings - {"", "identity"} and head.status_code not in _REDIRECTS:
            raise PinnedFault("protocol", "its server sent it compressed, which was not asked for")
        return head

    async def receive(self) -> bytes:
        """The next piece of the body; empty at the end."""
        try:
            event = await self._next()
        except (h11.ProtocolError, trio.BrokenResourceError):
            raise _broke_off() from None
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    async def aclose(self) -> None:
        await trio.aclose_forcefully(self._stream)

    async def _head(self) -> h11.Response:
        while not isinstance(event := await self._next(), h11.Response):
            if self._received > MAX_HEAD_BYTES or not isinstance(event, h11.InformationalResponse):
                raise PinnedFault("protocol", "its server does not answer in HTTP")
        return event

    async def _body(self, headers: Headers, *, limit_bytes: int) -> bytes:
        too_large = PinnedFault("too_large", f"it has more than {limit_bytes // (1024 * 1024)} MB")
        declared = headers.get("content-length") or ""
        if declared.isdecimal() and int(declared) > limit_bytes:
            raise too_large
        body = bytearray()
        while piece := await self.receive():
            if len(body) + len(piece) > limit_bytes:
                raise too_large
            body += piece
        return bytes(body)

    async def _next(self) -> object:
        while (event := self._connection.next_event()) is h11.NEED_DATA:
            data = await self._stream.receive_some(_READ_BYTES)
            self._received += len(data)
            self._connection.receive_data(bytes(data))
        return event


def _broke_off() -> PinnedFault:
    return PinnedFault("protocol", "its server broke off, or does not answer in HTTP")
