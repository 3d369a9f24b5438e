"""Reads ``FETCH`` responses: some items of a message, in any order, requested or not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Final

from svc.clock import Millis
from svc.mail.providers.draft_mark import draft_mark, identifier
from svc.mail.providers.imap.protocol.faults import ProtocolFault
from svc.mail.providers.imap.protocol.framing import Literal
from svc.mail.providers.imap.protocol.values import Value, number

_DATE: Final = re.compile(
    rb" ?(\d{1,2})-([A-Za-z]{3})-(\d{4}) (\d{2}):(\d{2}):(\d{2}) ?([+-])(\d{2})(\d{2})", re.DOTALL
)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_REST: Final = rb":\s*([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)"
_MESSAGE_ID: Final = re.compile(rb"^message-id" + _REST, re.IGNORECASE | re.MULTILINE)
_ORIGINAL: Final = re.compile(rb"^x-microsoft-original-message-id" + _REST, re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Message:
    """``number``: the sequence number in the folder, which is valid only for a moment. Missing items are ``None``.

    ``raw``: the whole message. ``too_large``: its size in bytes, if it was larger than the limit. ``header``: the
    requested fields. ``labels``, ``server_id`` and ``server_thread`` come from servers that keep labels: the words as
    they came, and numbers as text.
    """

    number: int
    uid: int | None = None
    flags: frozenset[str] | None = None
    modseq: int | None = None
    arrived_at: Millis | None = None
    size: int | None = None
    raw: bytes | None = field(default=None, repr=False)
    too_large: int | None = None
    header: bytes | None = field(default=None, repr=False)
    labels: frozenset[bytes] | None = None
    server_id: str | None = None
    server_thread: str | None = None

    @property
    def message_id(self) -> str | None:
        """The Message-ID of ``header``, without angle brackets, decoded as Latin-1."""
        return self._id(_MESSAGE_ID)

    @property
    def original_message_id(self) -> str | None:
        """The Message-ID before sending, if the sending server replaced it by its own."""
        return self._id(_ORIGINAL)

    @property
    def draft_mark(self) -> str | None:
        return draft_mark(self.header or b"")

    def _id(self, name: re.Pattern[bytes]) -> str | None:
        found = name.search(self.header or b"")
        return None if found is None else identifier(found[1])


def message(sequence: int, found: Sequence[Value]) -> Message:
    """``found``: what follows ``FETCH``. Raises :class:`ProtocolFault`."""
    if len(found) != 1 or not isinstance(found[0], list):
        raise ProtocolFault("sent a message that can't be read")
    items = found[0]
    uid = modseq = size = too_large = None
    flags: frozenset[str] | None = None
    arrived_at: Millis | None = None
    raw: bytes | None = None
    header: bytes | None = None
    labels: frozenset[bytes] | None = None
    server_id = server_thread = None
    for name, value in zip(items[::2], items[1::2], strict=False):
        match name.upper() if isinstance(name, bytes) else b"":
            case b"UID":
                uid = number(value)
            case b"FLAGS":
                flags = _flags(value)
            case b"MODSEQ":
                modseq = number(value[0]) if isinstance(value, list) and value else None
            case b"INTERNALDATE":
                arrived_at = _instant(value)
            case b"RFC822.SIZE":
                size = number(value)
            case b"X-GM-MSGID":
                server_id = f"{number(value):x}"
            case b"X-GM-THRID":
                server_thread = f"{number(value):x}"
            case b"X-GM-LABELS":
                labels = _labels(value)
            case b"BODY[]" | b"BINARY[]" | b"RFC822":
                raw = value if isinstance(value, bytes) else None
                too_large = value.size if isinstance(value, Literal) else None
            case word if word.startswith((b"BODY[HEADER", b"RFC822.HEADER")):
                header = value if isinstance(value, bytes) else None
    return Message(
        number=sequence,
        uid=uid,
        flags=flags,
        modseq=modseq,
        arrived_at=arrived_at,
        size=size,
        raw=raw,
        too_large=too_large,
        header=header,
        labels=labels,
        server_id=server_id,
        server_thread=server_thread,
    )


def _flags(value: Value) -> frozenset[str]:
    """The flags: system flags in small letters, without ``\\Recent``, which says nothing about a message."""
    if not isinstance(value, list):
        raise ProtocolFault("sent flags that can't be read")
    texts = (one.decode("latin-1") for one in value if isinstance(one, bytes))
    return frozenset(text.lower() if text.startswith("\\") else text for text in texts) - {"\\recent"}


def _labels(value: Value) -> frozenset[bytes]:
    """The labels. ``NIL`` here is a label with that name, since an empty list is written as a list."""
    if not isinstance(value, list):
        raise ProtocolFault("sent labels that can't be read")
    return frozenset(b"NIL" if one is None else bytes(one) for one in value if one is None or isinstance(one, bytes))


def _instant(value: Value) -> Millis | None:
    """The time in milliseconds; ``None`` for an invalid date."""
    found = _DATE.fullmatch(value) if isinstance(value, bytes) else None
    if found is None or found[2].decode().lower() not in _MONTHS:
        return None
    offset = timedelta(hours=int(found[8]), minutes=int(found[9])) * (-1 if found[7] == b"-" else 1)
    month = _MONTHS.index(found[2].decode().lower()) + 1
    hour, minute, second = int(found[4]), int(found[5]), int(found[6])
    try:
        at = datetime(int(found[3]), month, int(found[1]), hour, minute, second, tzinfo=timezone(offset))
        return int(at.timestamp() * 1_000)
    except (ValueError, OverflowError):
        return None
