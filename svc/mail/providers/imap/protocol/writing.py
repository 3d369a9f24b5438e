"""Writes commands so that no value in them can be misread as another part of the command.

Words of a command are either our own (:class:`Plain`, checked) or come from outside: a password, a folder, a mail.
Words from outside are quoted if that is safe, and literals otherwise. A literal has to wait for the server's ``+``,
unless the server accepts it at once (RFC 7888: ``LITERAL+`` any size, ``LITERAL-`` up to 4096 bytes).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

MAX_QUOTED_BYTES: Final = 1_000
"""The longest quoted string. Servers limit the length of a line, and few name the limit."""
MINUS_BYTES: Final = 4_096

AtOnce = Literal["none", "small", "any"]
"""Which literals a server accepts without a ``+`` first."""

_PLAIN: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_QUOTABLE: Final = re.compile(rb"[\x20-\x7e]*")
_ESCAPE: Final = re.compile(rb'(["\\])')


@dataclass(frozen=True)
class Plain:
    """Words of our own. A character that could end the line is a bug, and raises."""

    text: str

    def __post_init__(self) -> None:
        if not _PLAIN.fullmatch(self.text):
            raise ValueError("words of a command have to be printable ASCII")


@dataclass(frozen=True)
class Text:
    """A string from outside, which may be a secret, so ``repr`` does not show it."""

    data: bytes = field(repr=False)


@dataclass(frozen=True)
class Bytes:
    """Always a literal: a mail."""

    data: bytes = field(repr=False)


@dataclass(frozen=True)
class Listed:
    """Words between parentheses."""

    words: tuple[Plain | Text | Bytes, ...]


Word = Plain | Text | Bytes
Words = Word | Listed


def written(tag: str, words: Sequence[Words], *, at_once: AtOnce) -> list[bytes]:
    """The command in pieces. Before each further piece, the caller must wait for the server's ``+``.

    Raises :class:`ValueError` for a NUL: no string in IMAP can hold it, and users do not type it.
    """
    pieces: list[bytes] = []
    line = bytearray(tag.encode("ascii"))
    for before, word, after in _in_order(words):
        line += before
        if isinstance(word, Plain):
            line += word.text.encode("ascii")
        elif isinstance(word, Text) and _is_quotable(word.data):
            line += b'"' + _ESCAPE.sub(rb"\\\1", word.data) + b'"'
        else:
            _check(word)
            takes = at_once == "any" or (at_once == "small" and len(word.data) <= MINUS_BYTES)
            line += b"{%d%s}\r\n" % (len(word.data), b"+" if takes else b"")
            if not takes:
                pieces.append(bytes(line))
                line = bytearray()
            line += word.data
        line += after
    line += b"\r\n"
    pieces.append(bytes(line))
    return pieces


def _in_order(words: Sequence[Words]) -> Iterator[tuple[bytes, Word, bytes]]:
    """Each word with the text before it and after it."""
    for word in words:
        if not isinstance(word, Listed):
            yield b" ", word, b""
            continue
        last = len(word.words) - 1
        for at, one in enumerate(word.words):
            yield b" " if at else b" (", one, b")" if at == last else b""


def _is_quotable(data: bytes) -> bool:
    return len(data) <= MAX_QUOTED_BYTES and _QUOTABLE.fullmatch(data) is not None


def _check(word: Text | Bytes) -> None:
    if isinstance(word, Text) and b"\0" in word.data:
        raise ValueError("a string of IMAP can't hold a NUL")
