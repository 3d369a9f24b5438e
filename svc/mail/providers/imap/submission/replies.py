"""Answers of an SMTP server, cut out of its stream (RFC 5321, 4.2), and what its greeting offers. Without I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from svc.mail.providers.imap.protocol.faults import ProtocolFault

MAX_LINE_BYTES: Final = 8_192
MAX_LINES: Final = 200
MAX_SAID_CHARS: Final = 300

_LINE: Final = re.compile(rb"(\d{3})(?:([ -])(.*))?", re.DOTALL)
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


@dataclass(frozen=True, kw_only=True)
class Reply:
    status: int
    lines: tuple[str, ...]

    @property
    def said(self) -> str:
        """For people: printable, and not too much."""
        return _CONTROLS.sub(" ", " ".join(self.lines)).strip()[:MAX_SAID_CHARS]

    @property
    def good(self) -> bool:
        return 200 <= self.status < 400

    @property
    def passing(self) -> bool:
        return 400 <= self.status < 500


@dataclass(kw_only=True)
class Replies:
    """Give it what comes, take what is whole."""

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
    """The extensions of an answer to EHLO with their parameters; its first line is the server's name."""
    found: dict[str, str] = {}
    for line in lines[1:]:
        name, _, parameters = line.replace("AUTH=", "AUTH ", 1).partition(" ")  # as some old servers write it
        found[name.upper()] = f"{found[name.upper()]} {parameters}" if name.upper() in found else parameters
    return found


def stuffed(raw: bytes) -> bytes:
    """A mail as DATA wants it: lines that end in CRLF, a dot more where one begins with a dot, and the end (4.5.2)."""
    lines = re.sub(rb"\r\n|\r|\n", b"\r\n", raw)
    if not lines.endswith(b"\r\n"):
        lines += b"\r\n"
    return re.sub(rb"(?m)^\.", b"..", lines) + b".\r\n"
