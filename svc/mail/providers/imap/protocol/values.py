"""Reads the words of a response: atoms, strings, lists and ``NIL`` (RFC 3501, section 4).

An :class:`Atom` may be a flag (``\\Seen``), a number, or the name of a part with its brackets
(``BODY[HEADER.FIELDS (MESSAGE-ID)]``), which is one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from svc.mail.providers.imap.protocol.faults import ProtocolFault
from svc.mail.providers.imap.protocol.framing import Frame, Literal

MAX_DEPTH: Final = 64

_TOKEN: Final = re.compile(
    rb"""
    \ *(?:
        (?P<open>\()
      | (?P<close>\))
      | "(?P<quoted>(?:[^"\\]|\\.)*+)"
      | (?P<atom>(?:[^\x00-\x20()"\[]|\[[^\]]*+\])++)
      | (?P<end>\Z)
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED: Final = re.compile(rb'\\(["\\])')  # other backslashes are mistakes of servers: they stay
_NIL: Final = b"NIL"


class Atom(bytes):
    """A word without quotes."""

    __slots__ = ()


Value: TypeAlias = "Atom | bytes | Literal | list[Value] | None"
"""A literal within the limit is just ``bytes``."""


def values(frame: Frame) -> list[Value]:
    """All words of a response. Raises :class:`ProtocolFault` if quotes or parentheses are not closed."""
    found: list[Value] = []
    open_lists: list[list[Value]] = [found]
    for value in _tokens(frame):
        if value is _OPEN:
            deeper: list[Value] = []
            open_lists[-1].append(deeper)
            open_lists.append(deeper)
            if len(open_lists) > MAX_DEPTH:
                raise ProtocolFault("sent a response that is nested too deep")
        elif value is _CLOSE:
            open_lists.pop()
            if not open_lists:
                raise _unreadable()
        else:
            open_lists[-1].append(value)
    if len(open_lists) != 1:
        raise _unreadable()
    return found


def number(value: Value) -> int:
    """The number in any kind of word. Raises :class:`ProtocolFault` for anything but a number of at most 64 bits."""
    if isinstance(value, bytes) and value.isdigit() and len(value) <= 20:
        return int(value)
    raise ProtocolFault("sent a word where a number belongs")


def _tokens(frame: Frame) -> Iterator[Value]:
    for part in frame:
        if isinstance(part, Literal):
            yield part if part.data is None else part.data
        else:
            yield from _words(part)


def _words(text: bytes) -> Iterator[Value]:
    at = 0
    while True:
        found = _TOKEN.match(text, at)
        if found is None:
            raise _unreadable()
        at = found.end()
        match found.lastgroup:
            case "open":
                yield _OPEN
            case "close":
                yield _CLOSE
            case "quoted":
                quoted = found["quoted"]
                yield _ESCAPED.sub(rb"\1", quoted) if b"\\" in quoted else quoted
            case "atom":
                atom = found["atom"]
                yield None if atom.upper() == _NIL else Atom(atom)
            case _:
                return


def _unreadable() -> ProtocolFault:
    return ProtocolFault("sent a response that can't be read")


_OPEN: Final = Atom(b"(")
_CLOSE: Final = Atom(b")")
