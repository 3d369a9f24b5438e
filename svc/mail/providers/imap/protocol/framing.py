"""Cuts the stream of a server into responses.

A response is a line; a line that ends in ``{42}`` goes on after 42 bytes of a literal (RFC 3501, 4.3; ``~{42}`` is the
literal of RFC 3516, ``{42+}`` that of RFC 7888, which servers should not send, but some do). Lines with text for people
(OK, NO, BAD, BYE, ``+``) have no literals, whatever they end in.

A literal that is larger than the limit is discarded as it comes. The response holds its size, and the connection goes
on.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from svc.mail.providers.imap.protocol.faults import ProtocolFault

MAX_LITERAL_BYTES: Final = 64 * 1024 * 1024
"""The limit for all literals of one response. Providers accept mails of at most 50 MB."""
MAX_TEXT_BYTES: Final = 16 * 1024 * 1024
"""The limit for one response without its literals. A search result with a million single numbers is half of that."""
MAX_LITERALS: Final = 1_000

_MARKER: Final = re.compile(rb"~?\{(\d{1,18})\+?\}\Z")
_FOR_PEOPLE: Final = re.compile(rb"(?:\+|\* (?:OK|NO|BAD|BYE|PREAUTH)\b|[^*+\s])", re.IGNORECASE)
_FETCH: Final = re.compile(rb"\* \d+ FETCH\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Literal:
    """``data`` is ``None`` if the literal was larger than the limit."""

    size: int
    data: bytes | None = field(repr=False)


Part = bytes | Literal
Frame = tuple[Part, ...]
"""One response: text and literals alternate, without line ends and length marks. It begins with text."""


@dataclass(kw_only=True)
class Framer:
    """:meth:`feed` takes received bytes, :meth:`next` returns the next complete response. Not usable after a fault."""

    max_literal_bytes: int = MAX_LITERAL_BYTES
    max_text_bytes: int = MAX_TEXT_BYTES
    _buffer: bytearray = field(default_factory=bytearray)
    _searched: int = 0  # the buffer has no line end before this index
    _parts: list[Part] = field(default_factory=list)
    _literal: bytearray | None = None  # the literal that is being received; None: none, or a discarded one
    _size: int = 0  # of the literal that is being received
    _missing: int = 0  # bytes of it that have not come yet
    _in_literal: bool = False
    _literal_bytes: int = 0
    _text_bytes: int = 0
    _whole: deque[Frame] = field(default_factory=deque)

    def feed(self, data: bytes | bytearray) -> None:
        """Raises :class:`ProtocolFault`."""
        self._buffer += data
        while self._take():
            pass

    def next(self) -> Frame | None:
        return self._whole.popleft() if self._whole else None

    @property
    def is_between(self) -> bool:
        """Whether no incomplete response is buffered: only then may the stream end without an error."""
        return not (self._buffer or self._parts)

    def _take(self) -> bool:
        """Takes one more line or literal from the buffer. False: it is not complete yet."""
        return self._take_literal() if self._in_literal else self._take_line()

    def _take_literal(self) -> bool:
        taken = min(self._missing, len(self._buffer))
        if self._literal is not None:
            self._literal += memoryview(self._buffer)[:taken]
        del self._buffer[:taken]
        self._missing -= taken
        if self._missing:
            return False
        data = None if self._literal is None else bytes(self._literal)
        self._parts.append(Literal(size=self._size, data=data))
        self._literal, self._in_literal = None, False
        return True

    def _take_line(self) -> bool:
        end = self._buffer.find(b"\n", self._searched)
        if self._text_bytes + (len(self._buffer) if end < 0 else end) > self.max_text_bytes:
            raise ProtocolFault("sent a line without an end")
        if end < 0:
            self._searched = len(self._buffer)
            return False
        line = bytes(self._buffer[:end]).removesuffix(b"\r")
        del self._buffer[: end + 1]
        self._searched = 0
        self._text_bytes += len(line)
        if not line and (not self._parts or self._is_open()):
            return True  # some servers put an empty line between responses, or after a literal
        marker = None if self._is_for_people(line) else _MARKER.search(line)
        self._parts.append(line[: marker.start()] if marker else line)
        if marker:
            self._begin_literal(int(marker[1]))
        else:
            self._whole.append(tuple(self._parts))
            self._parts = []
            self._literal_bytes = self._text_bytes = 0
        return True

    def _begin_literal(self, size: int) -> None:
        self._literal_bytes += size
        if len(self._parts) > 2 * MAX_LITERALS:
            raise ProtocolFault("sent a response of too many parts")
        self._size = self._missing = size
        self._in_literal = True
        self._literal = bytearray() if self._literal_bytes <= self.max_literal_bytes else None

    def _is_open(self) -> bool:
        """Whether a response about a message is still open: it ends with a parenthesis, not with an empty line."""
        first = self._parts[0]
        return isinstance(first, bytes) and _FETCH.match(first) is not None

    def _is_for_people(self, line: bytes) -> bool:
        return not self._parts and _FOR_PEOPLE.match(line) is not None
