"""Reads ``Authentication-Results`` (RFC 8601): which server reports what. Never raises; linear time on any input."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from svc.formats.authentication.model import ServerResult

MAX_FIELD_BYTES: Final = 16 * 1024
MAX_RESULTS: Final = 30
METHODS: Final = frozenset({"spf", "dkim", "dmarc"})

_RESULTS: Final = frozenset({"pass", "fail", "softfail", "neutral", "none", "policy", "temperror", "permerror"})
_SERVER: Final = re.compile(r"\s*\"?([A-Za-z0-9._-]{1,253})\"?(?:\s+\d{1,4})?\s*")
_METHOD: Final = re.compile(r"\s*([A-Za-z0-9-]{1,20})(?:\s*/\s*\d{1,4})?\s*=\s*([A-Za-z]{1,20})(.*)", re.DOTALL)
_PROPERTY: Final = re.compile(r"([a-z]{1,20})\.([a-z_-]{1,20})=(\"[^\"]*\"|[^\s\"]+)", re.IGNORECASE)
_DOMAIN_OF: Final = {
    "dkim": ("header.d", "header.i"),
    "spf": ("smtp.mailfrom", "smtp.mail", "smtp.helo"),
    "dmarc": ("header.from",),
}
_HOST: Final = re.compile(r"[a-z0-9_.-]{1,253}")


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field: the name of the server that wrote it (``authserv-id``, lower case), and its results."""

    server: str
    results: tuple[ServerResult, ...]


def read_field(value: bytes) -> Field | None:
    """``None`` if it names no server, as Outlook writes it: then the author of the field is unknown."""
    pieces = _pieces(value[:MAX_FIELD_BYTES].decode("latin-1"))
    server = _SERVER.fullmatch(pieces[0])
    if server is None:
        return None
    return Field(server=server[1].lower(), results=tuple(_results(pieces[1 : MAX_RESULTS + 1])))


def _results(pieces: Iterable[str]) -> Iterable[ServerResult]:
    for piece in pieces:
        found = _METHOD.fullmatch(piece)
        if found is None:
            continue
        method, result = found[1].lower(), found[2].lower()
        if method in METHODS and result in _RESULTS:
            yield ServerResult(method=method, result=result, domain=_domain(method, found[3]))


def _domain(method: str, text: str) -> str:
    properties: dict[str, str] = {}
    for kind, name, value in _PROPERTY.findall(text):
        properties.setdefault(f"{kind}.{name}".lower(), value.strip('"'))
    value = next((properties[name] for name in _DOMAIN_OF[method] if name in properties), "")
    domain = value.rpartition("@")[2].lower().rstrip(".")
    return domain if _HOST.fullmatch(domain) else ""


def _pieces(text: str) -> list[str]:
    """The text cut at semicolons, without comments; in a quoted string, both are ordinary text."""
    pieces: list[str] = []
    piece: list[str] = []
    depth, quoted, escaped = 0, False, False
    for char in text:
        if escaped:
            escaped = False
        elif char == "\\" and (depth or quoted):
            escaped = True
            continue
        elif char == '"' and not depth:
            quoted = not quoted
        elif char == "(" and not quoted:
            depth += 1
        elif char == ")" and depth:
            depth -= 1
            char = " "
        elif char == ";" and not depth and not quoted:
            pieces.append("".join(piece))
            piece = []
            continue
        if not depth:
            piece.append(char)
    pieces.append("".join(piece))
    return pieces
