"""A client of our own listeners: small JSON requests over kept connections, through a port or through memory.

Outgoing requests to strangers use :mod:`svc.protocol.egress`. This client talks only to the other plane, whose routes
may all be called twice. Owns the idle connections. The other end closes a connection that was idle for long, perhaps
just as it is used again: such a request is repeated once, on a new connection.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import h11
import msgspec
import trio

Connect = Callable[[], Awaitable[trio.abc.Stream]]

ANSWER_S: Final = 60.0
MAX_ANSWER_BYTES: Final = 8 * 1024 * 1024
_READ_BYTES: Final = 64 * 1024
_MAX_IDLE: Final = 8
_BROKEN: Final = (OSError, trio.BrokenResourceError, trio.ClosedResourceError, h11.ProtocolError)
_OK: Final = 200
_MULTIPLE: Final = 300


class LinkFault(Exception):
    """The other plane did not answer."""


@dataclass(frozen=True, kw_only=True)
class LinkAnswer:
    status: int
    body: bytes

    @property
    def ok(self) -> bool:
        return _OK <= self.status < _MULTIPLE

    def json(self) -> Any:
        """The body. Raises :class:`LinkFault` if it is not JSON."""
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise LinkFault(f"answered {self.status} with a body that is no JSON") from error

    def problem(self) -> str:
        """The words of a refusal."""
        try:
            said = msgspec.json.decode(self.body)
            return str(said.get("detail") or said.get("title"))
        except (msgspec.DecodeError, AttributeError, RecursionError):
            return f"status {self.status}"


@dataclass(kw_only=True)
class Link:
    """``authority`` is the ``Host`` that is sent, ``token`` the internal token."""

    connect: Connect
    authority: str
    token: str = field(repr=False)
    _idle: list[_Kept] = field(default_factory=list)

    async def post(
        self, path: str, body: object, *, headers: Mapping[str, str] | None = None, within_s: float = ANSWER_S
    ) -> LinkAnswer:
        """Send one request and read the answer. Raises :class:`LinkFault`."""
        return await self.ask("POST", path, msgspec.json.encode(body), headers=headers, within_s=within_s)

    async def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        headers: Mapping[str, str] | None = None,
        within_s: float = ANSWER_S,
    ) -> LinkAnswer:
        fields = [("host", self.authority), ("authorization", f"Bearer {self.token}"), *(headers or {}).items()]
        if body:
            fields += [("content-type", "application/json"), ("content-length", str(len(body)))]
        request = h11.Request(method=method, target=path, headers=fields)
        try:
            with trio.fail_after(within_s):
                if self._idle:
                    with suppress(_Stale):
                        return await self._exchange(self._idle.pop(), request, body)
                return await self._exchange(_Kept(await self.connect()), request, body)
        except _BROKEN as error:
            raise LinkFault(str(error) or type(error).__name__) from error
        except trio.TooSlowError:
            raise LinkFault(f"no answer within {within_s:g} s") from None

    async def open(
        self, method: str, path: str, body: bytes = b"", *, headers: Mapping[str, str], within_s: float = ANSWER_S
    ) -> LinkStream:
        """An answer that is read piece by piece, over a connection of its own. Returns once its head has arrived.

        Raises :class:`LinkFault`.
        """
        fields = [("host", self.authority), ("authorization", f"Bearer {self.token}"), *headers.items()]
        fields += [("content-length", str(len(body))), ("connection", "close")]
        request = h11.Request(method=method, target=path, headers=fields)
        stream: trio.abc.Stream | None = None
        try:
            with trio.fail_after(within_s):
                stream = await self.connect()
                opened = LinkStream(stream)
                await opened.begin(request, body)
                return opened
        except BaseException as error:
            if stream is not None:
                await trio.aclose_forcefully(stream)
            if isinstance(error, trio.TooSlowError):
                raise LinkFault(f"no answer within {within_s:g} s") from None
            if isinstance(error, _BROKEN):
                raise LinkFault(str(error) or type(error).__name__) from error
            raise

    async def _exchange(self, kept: _Kept, request: h11.Request, body: bytes) -> LinkAnswer:
        try:
            answer = await kept.exchange(request, body)
        except BaseException:
            await trio.aclose_forcefully(kept.stream)
            raise
        await self._keep(kept)
        return answer

    async def aclose(self) -> None:
        while self._idle:
            await trio.aclose_forcefully(self._idle.pop().stream)

    async def _keep(self, kept: _Kept) -> None:
        if kept.reusable and len(self._idle) < _MAX_IDLE:
            self._idle.append(kept)
        else:
            await trio.aclose_forcefully(kept.stream)


class LinkStream:
    """One answer whose body is read while it arrives. The caller who opened it closes it."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.status = 0
        self._headers: dict[str, str] = {}
        self._stream = stream
        self._h11 = h11.Connection(h11.CLIENT)

    def header(self, name: str) -> str | None:
        """``name`` in lower case."""
        return self._headers.get(name)

    async def begin(self, request: h11.Request, body: bytes) -> None:
        data = (self._h11.send(request) or b"") + (self._h11.send(h11.Data(data=body)) or b"")
        await self._stream.send_all(data + (self._h11.send(h11.EndOfMessage()) or b""))
        event = await self._next()
        if not isinstance(event, h11.Response):
            raise LinkFault("the connection was closed before the answer")
        self.status = event.status_code
        self._headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}

    async def receive(self) -> bytes:
        """The next piece; empty at the end. Raises :class:`LinkFault` if the answer is cut off."""
        try:
            event = await self._next()
        except _BROKEN as error:
            raise LinkFault(str(error) or type(error).__name__) from error
        return bytes(event.data) if isinstance(event, h11.Data) else b""

    async def aclose(self) -> None:
        await trio.aclose_forcefully(self._stream)

    async def _next(self) -> object:
        while True:
            event = self._h11.next_event()
            if event is not h11.NEED_DATA:
                return event
            self._h11.receive_data(bytes(await self._stream.receive_some(_READ_BYTES)))


class _Stale(LinkFault):
    """A connection that was used before is closed, and nothing of an answer arrived."""


class _Kept:
    """One connection, one request at a time."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self.reusable = True
        self._used = False
        self._h11 = h11.Connection(h11.CLIENT)

    async def exchange(self, request: h11.Request, body: bytes) -> LinkAnswer:
        data = self._h11.send(request) or b""
        if body:
            data += self._h11.send(h11.Data(data=body)) or b""
        data += self._h11.send(h11.EndOfMessage()) or b""
        status, received = 0, bytearray()
        while True:
            event = await self._first(data) if data else await self._next()
            data = b""
            if isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                received += event.data
                if len(received) > MAX_ANSWER_BYTES:
                    raise LinkFault(f"answered with more than {MAX_ANSWER_BYTES} bytes")
            elif isinstance(event, h11.EndOfMessage):
                break
            elif isinstance(event, h11.ConnectionClosed):
                raise LinkFault("the connection was closed before the answer")
        self._begin_anew()
        return LinkAnswer(status=status, body=bytes(received))

    async def _first(self, data: bytes) -> object:
        """Send the request, and return the first event of its answer."""
        try:
            await self.stream.send_all(data)
            event = await self._next()
        except (trio.BrokenResourceError, trio.ClosedResourceError, h11.RemoteProtocolError) as error:
            if self._used:
                raise _Stale("the connection was closed while it was idle") from error
            raise
        if self._used and isinstance(event, h11.ConnectionClosed):
            raise _Stale("the connection was closed while it was idle")
        return event

    def _begin_anew(self) -> None:
        self._used = True
        try:
            self._h11.start_next_cycle()
        except h11.LocalProtocolError:
            self.reusable = False

    async def _next(self) -> object:
        while True:
            event = self._h11.next_event()
            if event is not h11.NEED_DATA:
                return event
            self._h11.receive_data(bytes(await self.stream.receive_some(_READ_BYTES)))
