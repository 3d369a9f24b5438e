"""A request and a response as the rest of the service sees them: no sockets, no h11, no framing.

Owns the two records, header access, and the JSON and problem bodies (RFC 9457). Header names are lower case.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol
from urllib.parse import parse_qsl, unquote

import msgspec
import trio

from svc.errors import Invalid, Refusal, TooLarge

JSON: Final = "application/json"
PROBLEM_JSON: Final = "application/problem+json"
SEQ_HEADER: Final = "x-svc-seq"
"""The newest live update before an answer to a query was made: its client misses nothing if it listens from there."""

HeaderList = list[tuple[str, str]]
Write = Callable[[bytes], Awaitable[None]]
Producer = Callable[[Write], Awaitable[None]]
"""Writes a body itself, with tasks of its own if it wants; one piece at a time."""


class Sendable(Protocol):
    """Bytes that the system can put into a socket by itself; ``left`` is how many."""

    left: int

    async def send_to(self, descriptor: int) -> int:
        """The number of bytes that the socket took at once; 0 while it is full. Raises ``OSError`` if it is gone."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBody:
    """A body that is in a file: a :data:`Producer` for any front, and a faster way for plain sockets.

    ``opened``: the file for the system to send; ``None`` if the bytes must pass through our code.
    """

    produce: Producer
    opened: Callable[[], Awaitable[Sendable | None]]

    async def __call__(self, write: Write) -> None:
        await self.produce(write)


class Headers:
    """Request header fields, in the order of arrival, found by lower-case name. They never change.

    The requests of a connection share one of these while the client repeats its fields, so values read out of them are
    cached here: ``cookies`` are those that were asked for.
    """

    __slots__ = ("_fields", "_values", "cookies")

    def __init__(self, fields: Iterable[tuple[str, str]] = ()) -> None:
        self._fields = list(fields)
        self._values: dict[str, list[str]] = {}
        for name, value in self._fields:
            self._values.setdefault(name, []).append(value)
        self.cookies: dict[str, str | None] = {}

    def get(self, name: str) -> str | None:
        """The first value of ``name``, or ``None``."""
        values = self._values.get(name)
        return values[0] if values else None

    def all(self, name: str) -> list[str]:
        """All values of ``name``. Do not change the list."""
        return self._values.get(name) or []

    def items(self) -> list[tuple[str, str]]:
        return self._fields


class BodyReader(Protocol):
    """A request's body as it arrives. Nothing is read until it is asked for; then ``100 Continue`` is sent if
    wanted."""

    @property
    def declared_length(self) -> int | None:
        """``Content-Length``, 0 when there is no body, ``None`` when chunked."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body, once. Raises :class:`Refusal` ``request_timeout`` when the client is too slow."""
        ...


class BytesBody:
    """A body that is already complete: for tests, and for requests without one."""

    def __init__(self, data: bytes = b"") -> None:
        self._data = data

    @property
    def declared_length(self) -> int | None:
        return len(self._data)

    async def chunks(self) -> AsyncIterator[bytes]:
        if self._data:
            yield self._data


@dataclass(slots=True, kw_only=True)
class Request:
    """One HTTP request. ``target`` is raw (path and query, still percent-encoded); ``path`` is decoded once."""

    method: str
    target: str
    headers: Headers
    body: BodyReader = field(default_factory=BytesBody)
    id: str = ""
    peer: str = ""  # address of the other end of the socket, without the port
    secure: bool = False  # the request came over TLS (or a trusted proxy says so)
    params: Mapping[str, str] = field(default_factory=dict)  # of the matched route
    logged: str = ""  # what a log may show of the target (logged.py), once a row is found
    gone: Callable[[], Awaitable[None]] | None = None  # returns once the client has closed; call it only to wait
    draining: trio.Event | None = None  # set once the service drains: an endless answer then ends
    opens_socket: bool = False  # a checked WebSocket upgrade, whose route is a socket's
    renewed: Callable[[], tuple[str, str] | None] | None = None  # a cookie to set anew; called when the answer begins

    @property
    def raw_path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def path(self) -> str:
        return unquote(self.raw_path)

    @property
    def raw_query(self) -> str:
        return self.target.partition("?")[2]

    def query(self) -> dict[str, str]:
        """Query parameters; of a repeated name the first counts. Bytes that are not UTF-8 are replaced."""
        return self._query("replace")

    def strict_query(self) -> dict[str, str]:
        """As :meth:`query`, but raises :class:`Invalid` for bytes that are not UTF-8: for text that is kept."""
        try:
            return self._query("strict")
        except UnicodeDecodeError as error:
            raise Invalid("The query is not UTF-8.") from error

    def _query(self, errors: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, value in parse_qsl(self.raw_query, keep_blank_values=True, errors=errors):
            found.setdefault(name, value)
        return found

    async def read(self, limit: int) -> bytes:
        """The whole body. Raises :class:`TooLarge` as soon as it is known to have more than ``limit`` bytes."""
        declared = self.body.declared_length
        if declared is not None and declared > limit:
            raise TooLarge(f"The body may have at most {limit} bytes.")
        parts: list[bytes] = []
        size = 0
        async for chunk in self.body.chunks():
            size += len(chunk)
            if size > limit:
                raise TooLarge(f"The body may have at most {limit} bytes.")
            parts.append(chunk)
        return b"".join(parts)

    async def read_json(self, limit: int) -> object:
        """The body as JSON. Only ``application/json`` is accepted: a page on another site can't send it without a
        preflight."""
        media_type = (self.headers.get("content-type") or "").partition(";")[0].strip().lower()
        if media_type != JSON:
            raise Refusal("The body must be application/json.", code="unsupported_media_type")
        try:
            return msgspec.json.decode(await self.read(limit))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Invalid("The body is not valid JSON.") from error


@dataclass(slots=True, kw_only=True)
class Response:
    """One HTTP answer. ``body`` is bytes, or an iterator or producer of pieces, with ``content_length`` if it is
    known."""

    status: int = 200
    headers: HeaderList = field(default_factory=list)
    body: bytes | AsyncIterator[bytes] | Producer = b""
    content_length: int | None = None
    common: int = 0  # the number of leading headers that many answers share; their bytes are cached

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


async def pour(body: AsyncIterator[bytes] | Producer, write: Write) -> None:
    """Write a body that is made of pieces."""
    if callable(body):
        await body(write)
    else:
        async for piece in body:
            await write(piece)


def json_response(data: object, *, status: int = 200, headers: HeaderList | None = None) -> Response:
    fields = [("content-type", JSON), ("cache-control", "no-store"), *(headers or [])]
    return Response(status=status, headers=fields, body=msgspec.json.encode(data))


def redirect(location: str, *, headers: HeaderList | None = None) -> Response:
    """302, never cached: each of our redirects carries a one-time value or ends a login."""
    return Response(status=302, headers=[("location", location), ("cache-control", "no-store"), *(headers or [])])


def problem(refusal: Refusal) -> Response:
    """A refusal as RFC 9457 ``application/problem+json``."""
    row = refusal.row
    body = {
        "type": "about:blank",
        "title": row.title,
        "status": row.status,
        "detail": refusal.detail,
        "code": refusal.code,
        **refusal.data,
    }
    fields = [("content-type", PROBLEM_JSON), ("cache-control", "no-store"), *refusal.headers.items()]
    return Response(status=row.status, headers=fields, body=msgspec.json.encode(body))
