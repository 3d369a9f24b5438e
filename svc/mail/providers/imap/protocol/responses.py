"""Interprets responses: a record for each kind that our code uses (RFC 3501 and 9051, section 7).

Every other response becomes :class:`Other`, unread, since our code never asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Final, Literal

from svc.mail.providers.imap.protocol.faults import ProtocolFault
from svc.mail.providers.imap.protocol.framing import Frame
from svc.mail.providers.imap.protocol.messages import Message, message
from svc.mail.providers.imap.protocol.sets import UidSet
from svc.mail.providers.imap.protocol.values import Atom, Value, number, values

Outcome = Literal["OK", "NO", "BAD", "BYE", "PREAUTH"]

MAX_WORDS_CHARS: Final = 300


@dataclass(frozen=True, kw_only=True)
class Code:
    """A response code: ``[UIDVALIDITY 7]`` is ``UIDVALIDITY`` with one argument, as it came."""

    name: str
    arguments: tuple[bytes, ...] = ()

    def number(self) -> int:
        """Its only argument. Raises :class:`ProtocolFault`."""
        return number(Atom(self.arguments[0]) if self.arguments else None)


@dataclass(frozen=True, kw_only=True)
class State:
    """A status response. ``tag``: of the command that it ends; ``None`` if the server sends it unasked.

    ``words``: the server's text for people, printable and shortened.
    """

    tag: str | None
    outcome: Outcome
    code: Code | None
    words: str


@dataclass(frozen=True, kw_only=True)
class GoOn:
    """``+``: the server waits for the rest of a command. ``data``: the challenge of a SASL mechanism."""

    data: bytes


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    names: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Enabled:
    names: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Exists:
    messages: int


@dataclass(frozen=True, kw_only=True)
class Expunged:
    """A removed message by its sequence number, from servers without QRESYNC."""

    number: int


@dataclass(frozen=True, kw_only=True)
class Vanished:
    """Removed messages by UID. ``earlier``: since the number in our request (RFC 7162), not just now."""

    uids: UidSet
    earlier: bool


@dataclass(frozen=True, kw_only=True)
class Folder:
    """``name``: the server's own bytes. ``delimiter``: separates the levels of its path; ``None``: no levels."""

    name: bytes
    delimiter: bytes | None
    attributes: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Namespaces:
    """How the names of folders begin: the user's own, and those of other users or shared by all (RFC 2342)."""

    personal: tuple[bytes, ...] = ()
    foreign: tuple[bytes, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FolderStatus:
    name: bytes
    items: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Found:
    """The result of a search."""

    uids: UidSet


@dataclass(frozen=True, kw_only=True)
class Other:
    name: str


Response = (
    State
    | GoOn
    | Capabilities
    | Enabled
    | Exists
    | Expunged
    | Vanished
    | Folder
    | FolderStatus
    | Namespaces
    | Found
    | Message
    | Other
)

_TAGGED: Final = re.compile(rb"(\S+) (OK|NO|BAD)(?: (.*))?", re.IGNORECASE | re.DOTALL)
_UNTAGGED: Final = re.compile(rb"\* (OK|NO|BAD|BYE|PREAUTH)(?: (.*))?", re.IGNORECASE | re.DOTALL)
_CODE: Final = re.compile(rb"\s*\[([^\]\s]+)(?:\s+((?:\"(?:[^\"\\]|\\.)*+\"|[^\]\"])*+))?\]", re.DOTALL)
_NUMBERED: Final = re.compile(rb"\* (\d{1,10}) ([A-Za-z]+)")
_NAMED: Final = re.compile(rb"\* ([A-Za-z-]+)")
_ARGUMENT: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|[^\s()"]+')
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def response(frame: Frame) -> Response:
    """Raises :class:`ProtocolFault` for a response that can't be read and that we may have asked for."""
    first = frame[0]
    assert isinstance(first, bytes)
    if first[:1] == b"+":
        return GoOn(data=first[1:].strip())
    if first[:2] != b"* ":
        found = _TAGGED.fullmatch(first)
        if found is None:
            raise ProtocolFault("does not speak IMAP")
        return _state(found[1].decode("latin-1"), found[2], found[3])
    if found := _UNTAGGED.fullmatch(first):
        return _state(None, found[1], found[2])
    if found := _NUMBERED.match(first):
        return _numbered(int(found[1]), found[2].upper(), frame, past=found.end())
    named = _NAMED.match(first)
    name = named[1].decode().upper() if named else ""
    read = _READERS.get(name)
    return Other(name=name) if read is None or named is None else read(values((first[named.end() :], *frame[1:])))


def code_words(code: Code) -> str:
    """The code's arguments as one text."""
    return b" ".join(code.arguments).decode("latin-1")


def _state(tag: str | None, outcome: bytes, rest: bytes | None) -> State:
    rest = rest or b""
    found = _CODE.match(rest)
    code = None
    if found is not None:
        arguments = tuple(one.strip(b'"') for one in _ARGUMENT.findall(found[2] or b""))
        code = Code(name=found[1].decode("latin-1").upper(), arguments=arguments)
        rest = rest[found.end() :]
    words = _CONTROLS.sub(" ", rest.decode("utf-8", "replace")).strip()[:MAX_WORDS_CHARS]
    return State(tag=tag, outcome=_OUTCOMES[outcome.upper()], code=code, words=words)


def _numbered(count: int, name: bytes, frame: Frame, *, past: int) -> Response:
    if name == b"EXISTS":
        return Exists(messages=count)
    if name == b"EXPUNGE":
        return Expunged(number=count)
    if name == b"FETCH":
        first = frame[0]
        assert isinstance(first, bytes)
        return message(count, values((first[past:], *frame[1:])))
    return Other(name=name.decode())


def _words(found: Sequence[Value]) -> frozenset[str]:
    return frozenset(one.decode("latin-1").upper() for one in found if isinstance(one, bytes))


def _vanished(found: Sequence[Value]) -> Vanished:
    earlier = bool(found) and isinstance(found[0], list)
    return Vanished(uids=_uid_set(found[-1] if found else None), earlier=earlier)


def _folder(found: Sequence[Value]) -> Folder:
    if len(found) < 3 or not isinstance(found[0], list) or not isinstance(found[2], bytes):
        raise ProtocolFault("sent a list of folders that can't be read")
    delimiter = found[1] if isinstance(found[1], bytes) and found[1] else None
    attributes = frozenset(one.decode("latin-1").lower() for one in found[0] if isinstance(one, bytes))
    return Folder(name=bytes(found[2]), delimiter=delimiter, attributes=attributes)


def _namespaces(found: Sequence[Value]) -> Namespaces:
    """Three lists, each of ``("prefix" "delimiter")`` or ``NIL``. What can't be read counts as not there: an account
    must not stop because of it."""
    kinds = [_prefixes(one) for one in found[:3]] if len(found) >= 3 else [(), (), ()]
    return Namespaces(personal=kinds[0], foreign=kinds[1] + kinds[2])


def _prefixes(kind: Value) -> tuple[bytes, ...]:
    if not isinstance(kind, list):
        return ()
    return tuple(bytes(one[0]) for one in kind if isinstance(one, list) and one and isinstance(one[0], bytes))


def _status(found: Sequence[Value]) -> FolderStatus:
    if len(found) < 2 or not isinstance(found[0], bytes) or not isinstance(found[1], list):
        raise ProtocolFault("sent the state of a folder that can't be read")
    pairs = zip(found[1][::2], found[1][1::2], strict=False)
    items = {
        name.decode("latin-1").upper(): int(value)
        for name, value in pairs
        if isinstance(name, bytes) and isinstance(value, bytes) and value.isdigit() and len(value) <= 20
    }
    return FolderStatus(name=bytes(found[0]), items=MappingProxyType(items))


def _search(found: Sequence[Value]) -> Found:
    """A list of numbers; after them, perhaps, ``(MODSEQ 7)``."""
    return Found(uids=UidSet.of(number(one) for one in found if not isinstance(one, list)))


def _esearch(found: Sequence[Value]) -> Found:
    """``(TAG "a1") UID ALL 1:7``: nothing found has no ``ALL`` (RFC 4731)."""
    for name, value in pairwise(found):
        if isinstance(name, Atom) and name.upper() == b"ALL":
            return Found(uids=_uid_set(value))
    return Found(uids=UidSet())


def _uid_set(value: Value) -> UidSet:
    if not isinstance(value, bytes):
        raise ProtocolFault("sent a set of messages that can't be read")
    return UidSet.read(value)


_OUTCOMES: Final[Mapping[bytes, Outcome]] = {
    b"OK": "OK",
    b"NO": "NO",
    b"BAD": "BAD",
    b"BYE": "BYE",
    b"PREAUTH": "PREAUTH",
}
_READERS: Final[Mapping[str, Callable[[Sequence[Value]], Response]]] = {
    "CAPABILITY": lambda found: Capabilities(names=_words(found)),
    "ENABLED": lambda found: Enabled(names=_words(found)),
    "LIST": _folder,
    "NAMESPACE": _namespaces,
    "STATUS": _status,
    "SEARCH": _search,
    "ESEARCH": _esearch,
    "VANISHED": _vanished,
}

__all__ = [
    "Capabilities",
    "Code",
    "Enabled",
    "Exists",
    "Expunged",
    "Folder",
    "FolderStatus",
    "Found",
    "GoOn",
    "Message",
    "Namespaces",
    "Other",
    "Outcome",
    "Response",
    "State",
    "Vanished",
    "code_words",
    "response",
]
