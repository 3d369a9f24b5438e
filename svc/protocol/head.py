"""A request's head: raw bytes go through the strict layer and h11, and become one record.

A client repeats its header block byte for byte, and only the request line changes. So the result for a block is
remembered for the life of the connection, and h11 reads each distinct block once. The request line is checked again
unless it, too, equals the last one. Owns the record and that memory of one entry; it never touches a socket or a body.
"""

from __future__ import annotations

from dataclasses import dataclass

import h11

from svc.errors import Invalid
from svc.protocol.limits import Limits
from svc.protocol.messages import Headers
from svc.protocol.strict import check_fields, check_framing, check_host, check_request_line, origin_form


@dataclass(frozen=True, slots=True)
class FieldBlock:
    """The content of the header fields, without the request line. ``length`` is ``None`` when the body is chunked."""

    headers: Headers
    host: bytes
    length: int | None
    keep_alive: bool
    expects_continue: bool
    wants_websocket: bool


@dataclass(frozen=True, slots=True)
class Head:
    method: str
    target: str  # path and query, still percent-encoded
    is_http11: bool
    fields: FieldBlock

    @property
    def keep_alive(self) -> bool:
        return self.is_http11 and self.fields.keep_alive


class HeadParser:
    """Parses the heads of one connection."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._line = b""
        self._head: Head | None = None
        self._block: bytes | None = None
        self._version = b""
        self._fields: FieldBlock | None = None

    def parse(self, raw: bytes) -> Head:
        """``raw`` is one head without its final empty line. Raises a :class:`~svc.errors.Refusal` with the right
        code."""
        line, _, block = raw.partition(b"\r\n")
        if self._head is not None and line == self._line and block == self._block:
            return self._head
        method, target, version = check_request_line(line, self._limits)
        fields = self._fields
        if fields is None or block != self._block or version != self._version:
            fields = _read_fields(raw, block, version, self._limits)
            self._head = None
            self._block, self._version, self._fields = block, version, fields
        path = origin_form(method, target, fields.host)
        self._line = line
        self._head = Head(method.decode("ascii"), path.decode("ascii"), version == b"HTTP/1.1", fields)
        return self._head


def _read_fields(raw: bytes, block: bytes, version: bytes, limits: Limits) -> FieldBlock:
    strict = check_fields(block, limits)
    host = check_host(strict)
    length = check_framing(strict, version)
    parsed = _h11_reads(raw, limits)
    connection = _tokens(parsed, "connection")
    return FieldBlock(
        headers=Headers(parsed),
        host=host,
        length=length,
        keep_alive="close" not in connection,
        expects_continue=version == b"HTTP/1.1" and length != 0 and "100-continue" in _tokens(parsed, "expect"),
        wants_websocket="upgrade" in connection and "websocket" in _tokens(parsed, "upgrade"),
    )


def _h11_reads(raw: bytes, limits: Limits) -> list[tuple[str, str]]:
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.head_bytes)
    try:
        connection.receive_data(raw + b"\r\n\r\n")
        event = connection.next_event()
    except h11.RemoteProtocolError as error:
        raise Invalid("The request head is malformed.") from error
    if not isinstance(event, h11.Request):
        raise Invalid("The request head is malformed.")
    return [(name.decode("ascii"), value.decode("latin-1")) for name, value in event.headers]


def _tokens(fields: list[tuple[str, str]], name: str) -> set[str]:
    return {token.strip().lower() for key, value in fields if key == name for token in value.split(",")}
