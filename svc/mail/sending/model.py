"""The records of sending, and its limits. The states of a mail are in ``states.py``."""

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
"""How late a mail is still sent automatically after the machine slept. Beyond: the mail is `overdue` and waits for the
word of its sender."""
LONGEST_RETRY_MS: Final = DAY_MS
"""The longest time until a retry. A later date means that the clock jumped back."""
SHOW_ENDED_MS: Final = DAY_MS
KEEP_ENDED_MS: Final = 30 * DAY_MS
MAX_RECIPIENTS: Final = 500
"""Entries of To, of Cc and of Bcc, each. Beyond: 400 `invalid`, with the name of the field."""
MAX_ATTACHMENTS: Final = 100
"""Attachments of a mail that is written. Beyond: 400 `invalid`, with the name of the field."""
MAX_ATTACHED_BYTES: Final = 25 * 1024 * 1024
"""The attachments of one mail together; as base64 that is 34 MiB. The limit of a provider for the whole message is its
``Capabilities.max_message_bytes``. Beyond: 413 `too_large`."""
MAX_LISTED: Final = 200
"""Mails in the list of the outbox, or drafts in the list of drafts. Beyond: the newest ones are shown."""

TASKS_TOPIC: Final = "tasks"


class Quote(msgspec.Struct, frozen=True, rename="camel"):
    """A reference to the original message that is quoted below a reply or a forward."""

    message_id: str
    kind: QuoteKind


class Quoted(msgspec.Struct, frozen=True, rename="camel"):
    """The original as it was when the mail was accepted. It stays, even if the message itself changes or is deleted."""

    message_id: str
    kind: QuoteKind
    body_sha256: str
    sender: Person
    sent_at: Millis
    subject: str
    to: tuple[Person, ...]
    cc: tuple[Person, ...]
    inline: tuple[AttachmentRef, ...]
    """The original's pictures that have a content id. Those that the quote shows are sent with the mail."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The In-Reply-To and References of a mail, where they were decided earlier: message ids without angle brackets."""

    in_reply_to: str | None
    references: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SendRequest:
    """A mail that a person wants to send: decoded, not yet checked. With ``from_address`` ``None`` the server chooses
    the address: the one that the answered mail was sent to, else the account's default."""

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
    """One outgoing mail. The columns are explained in ``tables.py``."""

    id: str
    owner_id: str | None
    sent_by: str | None
    """The person who sent the mail: the account's owner, or a member who may act in the account."""
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
        """Whether the mail waits to be sent (again) and can still be cancelled."""
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
    """Sentences for the writer: why the mailbox has no current copy, and what another program did with the draft."""
    about_thread_id: str | None = None
    """The thread that the draft answers, or the thread of the message that it quotes."""


def outgoing_origin(outgoing_id: str) -> str:
    """The ``origin`` of an outgoing mail's files: its attachments, and the pictures of its quote."""
    return f"outgoing:{outgoing_id}"


def draft_origin(draft_id: str) -> str:
    return f"draft:{draft_id}"
