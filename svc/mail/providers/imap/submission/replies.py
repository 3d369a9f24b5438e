"""Reads the replies of an SMTP server from its stream (RFC 5321, 4.2), and the extensions it offers. Without I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from svc.formats.writing.headers import usable_id
from svc.mail.providers.imap.protocol.faults import ProtocolFault

MAX_LINE_BYTES: Final = 8_192
MAX_LINES: Final = 200
MAX_SAID_CHARS: Final = 300
MAX_NAMES: Final = 4
MAX_NAME_CHARS: Final = 250

_LINE: Final = re.compile(rb"(\d{3})(?:([ -])(.*))?", re.DOTALL)
_NAMED: Final = re.compile(r"<([^<>@\s]+@[^<>@\s]+)>")
_AMAZON: Final = re.compile(r"email-smtp(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com", re.IGNORECASE)
_AMAZON_NUMBER: Final = re.compile(r"ok ([0-9a-f]+(?:-[0-9a-f]+)+)", re.IGNORECASE)
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


@dataclass(frozen=True, kw_only=True)
class Reply:
    status: int
    lines: tuple[str, ...]

    @property
    def said(self) -> str:
        """The text for people: printable and shortened."""
        return _CONTROLS.sub(" ", " ".join(self.lines)).strip()[:MAX_SAID_CHARS]

    @property
    def good(self) -> bool:
        return 200 <= self.status < 400

    @property
    def passing(self) -> bool:
        return 400 <= self.status < 500


@dataclass(kw_only=True)
class Replies:
    """:meth:`feed` takes received bytes, :meth:`next` returns the next complete reply."""

    _buffer: bytearray = field(default_factory=bytearray)
    _lines: list[str] = field(default_factory=list)

    def feed(self, data: bytes | bytearray) -> None:
        self._buffer += data

    def next(self) -> Reply | None:
        """Raises :class:`ProtocolFault`."""
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end]).removesuffix(b"\r")
            del self._buffer[: end + 1]
            found = _LINE.fullmatch(line)
            if found is None or len(self._lines) >= MAX_LINES:
                raise ProtocolFault("does not speak SMTP")
            self._lines.append((found[3] or b"").decode("utf-8", "replace"))
            if found[2] != b"-":
                reply = Reply(status=int(found[1]), lines=tuple(self._lines))
                self._lines = []
                return reply
        if len(self._buffer) > MAX_LINE_BYTES:
            raise ProtocolFault("sent a line without an end")
        return None

    @property
    def is_between(self) -> bool:
        return not (self._buffer or self._lines)


def offers(lines: Sequence[str]) -> Mapping[str, str]:
    """The extensions in a reply to EHLO, with their parameters; the first line is the server's name."""
    found: dict[str, str] = {}
    for line in lines[1:]:
        name, _, parameters = line.replace("AUTH=", "AUTH ", 1).partition(" ")  # some old servers write it with "="
        found[name.upper()] = f"{found[name.upper()]} {parameters}" if name.upper() in found else parameters
    return found


def names_in(reply: Reply, *, host: str) -> tuple[str, ...]:
    """The new Message-IDs of a mail that the server's reply names. Most servers keep the mail's own and name none.
    Microsoft names another one in angle brackets; Amazon's SES names the part before the @ of another one."""
    said = " ".join(reply.lines)
    names = _NAMED.findall(said)
    region, number = _AMAZON.fullmatch(host), _AMAZON_NUMBER.search(said)
    if region and number:
        names.append(f"{number[1]}@{'email' if region[1] == 'us-east-1' else region[1]}.amazonses.com")
    return tuple(dict.fromkeys(one for one in names if len(one) <= MAX_NAME_CHARS and usable_id(one)))[:MAX_NAMES]


def stuffed(raw: bytes) -> bytes:
    """A mail in the form for DATA: lines end in CRLF, a line that begins with a dot gets one more dot, and the end mark
    follows (4.5.2)."""
    lines = re.sub(rb"\r\n|\r|\n", b"\r\n", raw)
    if not lines.endswith(b"\r\n"):
        lines += b"\r\n"
    return re.sub(rb"(?m)^\.", b"..", lines) + b".\r\n"
