"""Checks a request's head before h11 reads it (RFC 9112, sections 2 to 7).

h11 is liberal where two parsers in a row can disagree about the end of a request: it takes a bare LF for a line end,
unfolds obsolete folding, lets ``Transfer-Encoding`` overrule ``Content-Length``, joins equal lengths and accepts an
empty ``Host``. Each of these is refused here, on the raw bytes. A head that passes has exactly one reading.

Owns the grammar and the refusals. It never stores bytes and never decides what a request means.
"""

from __future__ import annotations

import re
from typing import Final

from svc.errors import Invalid, Refusal
from svc.protocol.limits import Limits

HEAD_END: Final = b"\r\n\r\n"
METHOD_BYTES: Final = 32
"""The method of a request; the longest registered one has 17 letters. Beyond: 400 `invalid`; the connection closes."""

_TOKEN: Final = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_REQUEST_LINE: Final = re.compile(rb"(%s) ([\x21-\x7e]+) (HTTP/[0-9.]+)" % _TOKEN)
_FIELD: Final = re.compile(rb"(%s):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)" % _TOKEN)
_STRAY_OCTET: Final = re.compile(rb"(?<!\r)\n|\r(?=[^\n])|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HOST: Final = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~\-]+)(:[0-9]{1,5})?")
_ABSOLUTE: Final = re.compile(rb"https?://([^/?#]*)", re.IGNORECASE)
_LENGTH: Final = re.compile(rb"[0-9]{1,15}")
_VERSIONS: Final = frozenset({b"HTTP/1.1", b"HTTP/1.0"})
_LINE_OVERHEAD_BYTES: Final = METHOD_BYTES + len("  HTTP/1.1")


def check_unfinished_head(data: bytes | bytearray, *, seen: int, limits: Limits) -> None:
    """Refuse a head that can't become valid by what may still arrive. The first ``seen`` bytes were checked before."""
    stray = _STRAY_OCTET.search(data, max(0, seen - 2))
    if stray:
        raise Invalid("The request head holds a stray control character or line break.")
    line_end = data.find(b"\r\n")
    if (len(data) if line_end == -1 else line_end) > limits.target_bytes + _LINE_OVERHEAD_BYTES:
        raise _target_too_long(limits)
    if len(data) > limits.head_bytes:
        raise head_too_large(limits)


def check_request_line(line: bytes, limits: Limits) -> tuple[bytes, bytes, bytes]:
    """Method, target and version of a request line without its CRLF."""
    match = _REQUEST_LINE.fullmatch(line)
    if match is None:
        if len(line) > limits.target_bytes + _LINE_OVERHEAD_BYTES:
            raise _target_too_long(limits)
        raise Invalid("The request line is malformed.")
    method, target, version = match.groups()
    if version not in _VERSIONS:
        raise Refusal("Only HTTP/1.1 and HTTP/1.0 are spoken here.", code="version_not_supported")
    if len(method) > METHOD_BYTES:
        raise Invalid("The method is too long.")
    if len(target) > limits.target_bytes:
        raise _target_too_long(limits)
    return method, target, version


def check_fields(block: bytes, limits: Limits) -> list[tuple[bytes, bytes]]:
    """Names (lower case) and values of the field lines in ``block``, which has no CRLF at its ends."""
    lines = block.split(b"\r\n") if block else []
    if len(lines) > limits.head_fields:
        raise _too_many_fields(limits)
    fields = []
    for line in lines:
        match = _FIELD.fullmatch(line)
        if match is None:
            raise Invalid("A header field is malformed.")
        fields.append((match[1].lower(), match[2].rstrip(b" \t")))
    return fields


def check_read_head(target: bytes, fields: list[tuple[bytes, bytes]], version: bytes, limits: Limits) -> None:
    """The rules for a head that another parser has read, as far as they can be checked then."""
    if len(target) > limits.target_bytes:
        raise _target_too_long(limits)
    if len(fields) > limits.head_fields:
        raise _too_many_fields(limits)
    if len(target) + sum(len(name) + len(value) + len(": \r\n") for name, value in fields) > limits.head_bytes:
        raise head_too_large(limits)
    check_host(fields)
    if version in _VERSIONS:
        check_framing(fields, version)


def check_framing(fields: list[tuple[bytes, bytes]], version: bytes) -> int | None:
    """How the body is framed: its length (0 for none), or ``None`` when chunked."""
    lengths = [value for name, value in fields if name == b"content-length"]
    codings = [value for name, value in fields if name == b"transfer-encoding"]
    if lengths and codings:
        raise Invalid("Content-Length and Transfer-Encoding exclude each other.")
    if len(lengths) > 1 or len(codings) > 1:
        raise Invalid("The body's framing is given twice.")
    if codings:
        _check_coding(codings[0], version)
        return None
    if not lengths:
        return 0
    if not _LENGTH.fullmatch(lengths[0]):
        raise Invalid("Content-Length is not a number.")
    return int(lengths[0])


def check_host(fields: list[tuple[bytes, bytes]]) -> bytes:
    """The one ``Host``, as written. HTTP/1.0 must send it too: without a name the guard has nothing to check."""
    hosts = [value for name, value in fields if name == b"host"]
    if len(hosts) != 1:
        raise Invalid("Exactly one Host header is needed.")
    if not _HOST.fullmatch(hosts[0]):
        raise Invalid("The Host header is malformed.")
    return hosts[0]


def origin_form(method: bytes, target: bytes, host: bytes) -> bytes:
    """The target as path and query (RFC 9112, 3.2): an absolute one loses its authority, which must be ``Host``."""
    if b"#" in target:
        raise Invalid("A request target has no fragment.")
    if target.startswith(b"/"):
        return target
    if target == b"*" and method == b"OPTIONS":
        return target
    match = _ABSOLUTE.match(target)
    if match is None:
        raise Invalid("The request target is malformed.")
    if match[1].lower() != host.lower():
        raise Invalid("The request target names another host than the Host header.")
    rest = target[match.end() :]
    return rest if rest.startswith(b"/") else b"/" + rest


def _check_coding(coding: bytes, version: bytes) -> None:
    if version != b"HTTP/1.1":
        raise Invalid("HTTP/1.0 has no Transfer-Encoding.")
    if coding.lower() != b"chunked":
        raise Refusal("Only the transfer coding chunked is understood.", code="not_implemented")


def _target_too_long(limits: Limits) -> Refusal:
    return Refusal(f"The request target may have at most {limits.target_bytes} bytes.", code="uri_too_long")


def _too_many_fields(limits: Limits) -> Refusal:
    return Refusal(f"At most {limits.head_fields} header fields are read.", code="request_header_fields_too_large")


def head_too_large(limits: Limits) -> Refusal:
    return Refusal(
        f"The request head may have at most {limits.head_bytes} bytes.", code="request_header_fields_too_large"
    )
