"""The records of mail, as the rest of the feature passes them around. All frozen; none knows SQL or the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal

import msgspec

from svc.clock import Millis
from svc.formats.person import Person
from svc.ids import derived_id
from svc.principal import system

DEVICE_ID: Final = system("mail-sync").device_id
"""Who changes what sync changes."""

AccountState = Literal["backfilling", "caught-up", "waiting", "reconnect", "disconnected"]

ProviderName = str
"""Its name in the table of providers (:mod:`svc.mail.providers.table`)."""

Section = Literal["inbox", "skipped"]
SECTIONS: Final[tuple[Section, ...]] = ("inbox", "skipped")
"""Together: all mail, but for spam and the trash."""

OwnList = Literal["sent", "draft"]

Filter = Literal["unread", "to-me", "attachment", "starred"]
"""What a list can be narrowed to: an unread message, one to an address of the account's own, an attachment, a star."""

INBOX: Final = "INBOX"

UNREAD: Final = "UNREAD"

STARRED: Final = "STARRED"

IMPORTANT: Final = "IMPORTANT"

SENT: Final = "SENT"

SPAM: Final = "SPAM"

TRASH: Final = "TRASH"

DRAFT: Final = "DRAFT"

MAX_IDS_REMEMBERED: Final = 512
"""Some pages of mail."""

HIDDEN_LABELS: Final = frozenset({SPAM, TRASH, DRAFT})
"""A message that carries one of these is stored and synced, but stands in neither section of the inbox."""

OWN_LISTS: Final[Mapping[str, OwnList]] = MappingProxyType({SENT: "sent", DRAFT: "draft"})
"""The labels whose lists are about what the owner wrote: by that message's time, and with its words."""


@dataclass(frozen=True, kw_only=True)
class Account:
    id: str
    owner_id: str | None
    address: str
    provider: ProviderName
    state: AccountState
    problem: str | None
    cursor: str | None
    sweep_no: int
    sweep_cursor: str | None
    sweep_page_token: str | None
    sweep_started_at: Millis | None
    progress_done: int
    progress_total: int | None
    messages: int
    unread_threads: int
    last_synced_at: Millis | None
    unread_twins: int
    """Of ``unread_threads``, those that Unified shows in another account."""
    cause: Trouble | None
    """Beside ``problem``: its stable name."""
    provider_total: int | None
    """How many messages the provider last said it has; ``None`` while it has not said."""
    erasing: bool
    """Disconnected for good: nobody sees it any more, and its rows go one batch after the other."""
    sender_name: str | None
    """What ``From`` says beside the address; ``None``: nobody has said yet, empty: the person wants none."""
    aliases: tuple[str, ...]
    """Its other addresses, in lower case: they are the person's as much, and its mail may be from them."""


class Words(msgspec.Struct, frozen=True):
    """Of a thread's newest message that the owner sent, or drafted: who it is from, to whom, how many more, and how it
    begins. Stored as JSON."""

    sender: str
    to: tuple[Person, ...]
    others: int
    snippet: str


class Writer(msgspec.Struct, frozen=True):
    """Somebody who wrote in a thread. ``own``: the account sent their first mail; ``bulk``: that one went to many, so
    that a list or a shop wrote it. Stored as JSON."""

    name: str
    address: str
    own: bool
    bulk: bool


@dataclass(frozen=True, kw_only=True)
class OwnMessage:
    """What a row of Sent, or of Drafts, is about; ``at``: its place in that list."""

    words: Words
    at: Millis


class ThreadRow(msgspec.Struct, frozen=True, gc=False):
    """One row of the inbox list. A struct, since a page makes fifty of them, and a frozen dataclass is slow to make.
    What comes as it stands in the database comes first: those are given by place."""

    id: str
    account_id: str
    subject: str
    snippet: str
    sender_name: str
    sender_address: str
    last_message_at: Millis
    messages: int
    drafts: int
    """Among its messages: those that are not sent yet."""
    in_inbox: int
    unread: int
    visible: int
    attachments: int
    snoozed_until: Millis | None
    twins: str | None
    """The group of threads, in other accounts of the owner, that hold the same mail."""
    to_me: int
    """Among its messages: those whose ``To`` or ``Cc`` names the account itself."""
    labels: tuple[str, ...]
    leads: bool
    """Whether Unified shows this one of the group."""
    muted: bool
    writers: tuple[Writer, ...]
    """By their first mails; none where one wrote alone."""
    sent: OwnMessage | None
    draft: OwnMessage | None

    def at(self, own_list: OwnList | None) -> Millis:
        """Its place in a list: of what the owner wrote, or of all that came."""
        own = self.sent if own_list == "sent" else self.draft if own_list == "draft" else None
        return self.last_message_at if own is None else own.at


class AttachmentRef(msgspec.Struct, frozen=True, rename="camel"):
    """An attachment in a message's headers; its content is a blob, and a file of the account's owner."""

    filename: str
    mime: str
    sha256: str
    size: int
    file_id: str
    inline: bool = False
    content_id: str | None = None


class MessageHeaders(msgspec.Struct, frozen=True, rename="camel"):
    """What a message says about itself beyond its own columns. Stored as JSON."""

    to: tuple[Person, ...] = ()
    cc: tuple[Person, ...] = ()
    bcc: tuple[Person, ...] = ()
    reply_to: tuple[Person, ...] = ()
    in_reply_to: str | None = None
    references: tuple[str, ...] = ()
    attachments: tuple[AttachmentRef, ...] = ()
    list_id: str | None = None
    bulk: bool = False
    problems: tuple[str, ...] = ()
    senders: tuple[Person, ...] = ()
    """All that ``From`` names, where that is not just the sender."""
    delivered_to: tuple[str, ...] = ()
    """The addresses of ``Delivered-To`` and ``X-Original-To``, in this order: where the servers on the way took it."""


class Body(msgspec.Struct, frozen=True):
    """The body blob: JSON with exactly these two fields. ``html`` is what the sender wrote, not sanitized."""

    html: str | None
    text: str


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """A message fetched, parsed and with its blobs already durable: ready for the ingest transaction."""

    provider_message_id: str
    provider_thread_id: str | None
    """``None`` where the provider has no threads."""
    labels: frozenset[str]
    message_id_header: str | None
    sent_at: Millis
    sender: Person
    subject: str
    snippet: str
    headers: MessageHeaders
    body_sha256: str
    raw_sha256: str
    raw_size: int
    readable: str | None = None
    """What a person reads in its body, for who wants its words and need not read the blob again."""
    original_message_id: str | None = None
    """With which it was sent, where a server has replaced it by ``message_id_header``."""
    outgoing_mark: str | None = None
    """Our own ``X-Svc-Outgoing``; a stranger can write it too, so it counts only among the account's sent mail."""


@dataclass(frozen=True, kw_only=True)
class MessageRow:
    id: str
    account_id: str
    thread_id: str
    provider_message_id: str
    sent_at: Millis
    sender: Person
    subject: str
    headers: MessageHeaders
    labels: tuple[str, ...]
    body_sha256: str


@dataclass(frozen=True, kw_only=True)
class Label:
    id: str
    name: str
    system: bool
    color: str | None


@dataclass(frozen=True, kw_only=True)
class LabelChange:
    """A local label change on its way to the provider."""

    id: int
    provider_message_id: str
    add: frozenset[str]
    remove: frozenset[str]
    attempts: int
    created_at: Millis


def thread_id_of(account_id: str, provider_thread_id: str) -> str:
    """A thread's id follows from its account and the provider's id, so that a re-synced mailbox keeps its links."""
    return derived_id("thr", account_id, provider_thread_id)


@lru_cache(maxsize=MAX_IDS_REMEMBERED)
def message_id_of(account_id: str, provider_message_id: str) -> str:
    """Asked for at every step of a message's way into the tables."""
    return derived_id("msg", account_id, provider_message_id)


def has_list(label_id: str) -> bool:
    """Whether threads are listed by this label: for the inbox and the unread there are columns, for categories none."""
    return label_id not in {INBOX, UNREAD} and not label_id.startswith("CATEGORY_")


def is_own(labels: frozenset[str]) -> bool:
    return SENT in labels


Trouble = Literal["revoked", "testing-expired", "scope", "api-off", "clock", "other"]
"""What ails an account, by names that stay: programs go by them, people by the sentence beside them."""
