"""The records of a parsed message, and every limit of the parser. Records only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from svc.clock import Millis
from svc.formats.text import clean_line, cut

MAX_PARTS: Final = 1_000
"""Parts of a mail. Beyond: further ones are left out."""
MAX_DEPTH: Final = 32
"""Multiparts within multiparts. Beyond: what lies deeper is kept whole, as one attachment."""
MAX_HEADER_BYTES: Final = 256 * 1024
"""The header of a mail, or of a part of it. Beyond: what comes after is passed over."""
MAX_HEADER_FIELDS: Final = 1_000
"""Header fields of a mail, or of a part of it. Beyond: further ones are passed over."""
MAX_DELIMITER_CANDIDATES: Final = 1_000_000
"""Lines that begin with two hyphens and may be a boundary's. Beyond: no boundary is looked for after them."""
MAX_BOUNDARY_BYTES: Final = 256
"""A boundary (RFC 2046 allows 70; some senders need more). Beyond: it counts as none."""
MAX_DECODED_BYTES: Final = 50 * 1024 * 1024
"""All parts of a mail, decoded. Beyond: the part that is too much is left out."""
MAX_BODY_BYTES: Final = 10 * 1024 * 1024
"""The text of a mail, and its HTML, each. Beyond: it is cut."""
MAX_DELIVERED_TO: Final = 8
"""Addresses that a mail says it was delivered to. Beyond: further ones are ignored."""
MAX_ADDRESSES: Final = 500
"""Addresses of one kind (all of To, all of Cc, …). Beyond: further ones are left out."""
MAX_REFERENCES: Final = 200
"""Mails that a mail refers to. Beyond: the first and the last ones are kept."""
MAX_PARAMETERS: Final = 100
"""Parameters of a header field. Beyond: further ones are ignored."""
MAX_NAME_CHARS: Final = 256
"""The name of a person. Beyond: it is cut."""
MAX_ADDRESS_CHARS: Final = 998
"""A mail address, or a Message-ID. Beyond: it counts as none."""
MAX_LINE_CHARS: Final = 2_000
"""A subject, or any other header kept as one line. Beyond: it is cut."""
MAX_FILENAME_BYTES: Final = 255
"""The name of an attachment. Beyond: it is cut before its ending."""
MAX_PROBLEMS: Final = 50
"""Faults noted of one mail. Beyond: further ones are not noted."""
MAX_PROBLEM_CHARS: Final = 200
"""One such note. Beyond: it is cut."""


@dataclass(frozen=True, kw_only=True)
class Mailbox:
    """``name`` is decoded and clean. ``address`` is as written, without white space; empty if there is only a name."""

    name: str
    address: str


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """``filename`` is never empty, never a path. ``mime`` is what the sender says. ``inline``: the HTML shows it."""

    filename: str
    mime: str
    content: bytes
    content_id: str | None
    inline: bool


@dataclass(frozen=True, kw_only=True)
class ParsedMessage:
    """One message, ready to use. All text is valid Unicode without control characters (except line feed and tab).

    Ids have no angle brackets. ``sender`` is the first mailbox of From with an address, else that of Sender;
    ``senders`` are all of From. ``outgoing_mark`` is our own ``X-Svc-Outgoing``, and ``original_message_id`` the
    Message-ID with which a mail was sent, if a server has replaced it. ``delivered_to`` are the addresses of
    Delivered-To, then those of X-Original-To. ``problems`` lists what was tolerated, in words for a log. ``size`` is
    that of the raw bytes.
    """

    message_id: str | None
    in_reply_to: str | None
    references: tuple[str, ...]
    original_message_id: str | None
    subject: str
    sender: Mailbox | None
    senders: tuple[Mailbox, ...]
    reply_to: tuple[Mailbox, ...]
    to: tuple[Mailbox, ...]
    cc: tuple[Mailbox, ...]
    bcc: tuple[Mailbox, ...]
    date: Millis | None
    text: str
    html: str | None
    attachments: tuple[Attachment, ...]
    snippet: str
    list_id: str | None
    list_unsubscribe: str | None
    precedence: str | None
    auto_submitted: str | None
    delivered_to: tuple[str, ...]
    outgoing_mark: str | None
    problems: tuple[str, ...]
    size: int


@dataclass
class Problems:
    """Collects what was tolerated: each kind once, up to a limit."""

    notes: list[str] = field(default_factory=list)

    def add(self, note: str) -> None:
        note = cut(clean_line(note[:MAX_LINE_CHARS]), limit=MAX_PROBLEM_CHARS)
        if len(self.notes) < MAX_PROBLEMS and note not in self.notes:
            self.notes.append(note)
