"""The records of sending and its limits. Its states stand in ``states.py``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from svc.clock import DAY_MS, HOUR_MS, Millis
from svc.formats.person import Person
from svc.mail.model import AttachmentRef
from svc.mail.sending.states import CANCELLABLE, OutgoingState

QuoteKind = Literal["reply", "forward"]

MAX_ATTEMPTS: Final = 10
"""Attempts to send a mail that provably did not leave. Beyond: the mail is `failed`, and can be sent again by hand."""
MAX_LATE_MS: Final = 12 * HOUR_MS
"""How late a mail still goes by itself, because the machine slept. Beyond: the mail is `overdue` and waits for the word
of its sender."""
LONGEST_RETRY_MS: Final = DAY_MS
"""A retry is never further away: a date beyond it is the work of a clock that jumped back."""
SHOW_ENDED_MS: Final = DAY_MS
KEEP_ENDED_MS: Final = 30 * DAY_MS
MAX_RECIPIENTS: Final = 500
"""Entries of To, of Cc and of Bcc, each. Beyond: 400 `invalid`, with the name of the field."""
MAX_ATTACHMENTS: Final = 100
"""Attachments of a mail that is written. Beyond: 400 `invalid`, with the name of the field."""
MAX_ATTACHED_BYTES: Final = 25 * 1024 * 1024
"""Attachments of one mail together; as base64 that is 34 MiB. What a provider takes in all is its
``Capabilities.max_message_bytes``. Beyond: 413 `too_large`."""
MAX_LISTED: Final = 200
"""Mails of the outbox, or drafts, in one list. Beyond: the newest ones are shown."""

TASKS_TOPIC: Final = "tasks"


class Quote(msgspec.Struct, frozen=True, rename="camel"):
    """The original below a reply or a forward, by reference."""

    message_id: str
    kind: QuoteKind


class Quoted(msgspec.Struct, frozen=True, rename="camel"):
    """The original as it was when the mail was accepted: it stays, whatever becomes of the message."""

    message_id: str
    kind: QuoteKind
    body_sha256: str
    sender: Person
    sent_at: Millis
    subject: str
    to: tuple[Person, ...]
    cc: tuple[Person, ...]
    inline: tuple[AttachmentRef, ...]
    """Its pictures with a content id; they are sent along where the quote shows them."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What a mail says that it answers, where that was decided before: message ids without their brackets."""

    in_reply_to: str | None
    references: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SendRequest:
    """What a person wants sent: decoded, and not yet checked. ``from_address`` is ``None`` for what the account's mail
    is from by itself: the address that the answered mail came to, else its default."""

    account_id: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    bcc: tuple[str, ...]
    subject: str
    html: str
    attachments: tuple[str, ...]
    thread_id: str | None
    quote: Quote | None
    from_address: str | None = None


@dataclass(frozen=True, kw_only=True)
class Outgoing:
    """One mail on its way. The columns are explained in ``tables.py``."""

    id: str
    owner_id: str | None
    sent_by: str | None
    """The person who had it sent: the account's owner, or somebody who may act in it."""
    sent_by_name: str | None
    device_id: str
    account_id: str
    from_address: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    bcc: tuple[str, ...]
    subject: str
    html: str
    attachments: tuple[str, ...]
    thread_id: str | None
    quoted: Quoted | None
    in_reply_to: str | None
    references: tuple[str, ...]
    provider_thread_id: str | None
    draft_id: str | None
    restored_draft_id: str | None
    message_id_header: str
    state: OutgoingState
    doubt: bool
    version: int
    send_at: Millis | None
    next_at: Millis | None
    attempts: int
    last_error: str | None
    message_id: str | None
    created_at: Millis
    dismissed: bool

    @property
    def is_waiting(self) -> bool:
        """For its time, or for what keeps it."""
        return self.state in CANCELLABLE


@dataclass(frozen=True, kw_only=True)
class Draft:
    id: str
    owner_id: str | None
    account_id: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    bcc: tuple[str, ...]
    subject: str
    html: str
    snippet: str
    attachments: tuple[str, ...]
    thread_id: str | None
    quote: Quote | None
    version: int
    updated_at: Millis
    from_address: str | None
    answers: Answers | None
    notes: tuple[str, ...]
    """Sentences for its writer: what the mailbox does not have of it, and what was done with it elsewhere."""
    about_thread_id: str | None = None
    """The thread that it answers, or a message of which it forwards."""


def outgoing_origin(outgoing_id: str) -> str:
    """The origin of a mail's files: its attachments, and the pictures of its quote."""
    return f"outgoing:{outgoing_id}"


def draft_origin(draft_id: str) -> str:
    return f"draft:{draft_id}"
