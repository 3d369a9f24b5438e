"""The records of mail that the rest of the feature uses. All are frozen; none depends on SQL or the wire format."""

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
"""The device id of changes that sync makes."""

AccountState = Literal["backfilling", "caught-up", "waiting", "reconnect", "disconnected"]

ProviderName = str
"""A provider's name in the table of providers (:mod:`svc.mail.providers.table`)."""

Section = Literal["inbox", "skipped"]
SECTIONS: Final[tuple[Section, ...]] = ("inbox", "skipped")
"""Together they hold all mail except spam and trash."""

OwnList = Literal["sent", "draft"]

Filter = Literal["unread", "to-me", "attachment", "starred"]
"""The filters of a list: threads with an unread message, a message to one of the account's own addresses, an
attachment, or a star."""

INBOX: Final = "INBOX"

UNREAD: Final = "UNREAD"

STARRED: Final = "STARRED"

IMPORTANT: Final = "IMPORTANT"

SENT: Final = "SENT"

SPAM: Final = "SPAM"

TRASH: Final = "TRASH"

DRAFT: Final = "DRAFT"

MAX_IDS_REMEMBERED: Final = 512
"""Ids of messages in the cache of :func:`message_id_of`: some pages of mail."""

HIDDEN_LABELS: Final = frozenset({SPAM, TRASH, DRAFT})
"""A message that carries one of these is stored and synced, but is in neither section of the inbox."""

OWN_LISTS: Final[Mapping[str, OwnList]] = MappingProxyType({SENT: "sent", DRAFT: "draft"})
"""The labels whose lists show the owner's own message of a thread: sorted by its time, with its words."""


@dataclass(frozen=True, kw_only=True)
class Account:
    id: str
    owner_id: str | None
    address: str
    provider: ProviderName
    state: AccountState
    problem: str | None
    cursor: str | None
    full_sync_no: int
    full_sync_cursor: str | None
    full_sync_page_token: str | None
    full_sync_started_at: Millis | None
    progress_done: int
    progress_total: int | None
    messages: int
    unread_threads: int
    last_synced_at: Millis | None
    unread_duplicates: int
    """How many of ``unread_threads`` Unified shows in another account."""
    cause: Trouble | None
    """The stable name of ``problem``."""
    provider_total: int | None
    """How many messages the provider has, as it last reported; ``None`` before its first report."""
    erasing: bool
    """The account is disconnected for good: nobody sees it any more, and its rows are deleted batch by batch."""
    sender_name: str | None
    """The name in ``From`` beside the address. ``None``: not set yet; empty: the person wants no name."""
    aliases: tuple[str, ...]
    """The other addresses of the account, in lower case. They belong to the person too; mail may be sent from them."""

    @property
    def is_listed(self) -> bool:
        """Whether the list of the mailbox is being read, before its first full sync: the progress counts its entries,
        and not messages that are here."""
        return (
            self.state == "backfilling"
            and self.cursor is None
            and self.full_sync_cursor is None
            and self.progress_total is not None
        )


class Words(msgspec.Struct, frozen=True):
    """A thread's newest message that the owner sent or drafted: its sender, its recipients, how many more recipients
    there are, and how its text begins. Stored as JSON."""

    sender: str
    to: tuple[Person, ...]
    others: int
    snippet: str


class Writer(msgspec.Struct, frozen=True):
    """Somebody who wrote in a thread. ``own``: the account sent their first mail. ``bulk``: their first mail went to
    many people, so a list or a shop wrote it. Stored as JSON."""

    name: str
    address: str
    own: bool
    bulk: bool


@dataclass(frozen=True, kw_only=True)
class OwnMessage:
    """The message that a row of Sent or of Drafts shows. ``at``: its time, by which that list is sorted."""

    words: Words
    at: Millis


class ThreadRow(msgspec.Struct, frozen=True, gc=False):
    """One row of the inbox list. It is a struct because a page makes fifty of them, and a frozen dataclass is slow to
    make. The fields that are copied unchanged from the database come first: they are passed by position."""

    id: str
    account_id: str
    subject: str
    snippet: str
    sender_name: str
    sender_address: str
    last_message_at: Millis
    messages: int
    drafts: int
    """How many of its messages are drafts."""
    in_inbox: int
    unread: int
    visible: int
    attachments: int
    snoozed_until: Millis | None
    duplicate_group: str | None
    """The id of the group of threads, in several accounts of the owner, that hold the same mail."""
    to_me: int
    """How many of its messages name the account itself in ``To`` or ``Cc``."""
    labels: tuple[str, ...]
    leads: bool
    """Whether Unified shows this thread of ``duplicate_group``."""
    muted: bool
    writers: tuple[Writer, ...]
    """In the order of their first mails; empty where only one person wrote."""
    sent: OwnMessage | None
    draft: OwnMessage | None

    def at(self, own_list: OwnList | None) -> Millis:
        """The time by which a list sorts this row: in Sent and Drafts the owner's message, else the newest message."""
        own = self.sent if own_list == "sent" else self.draft if own_list == "draft" else None
        return self.last_message_at if own is None else own.at


class AttachmentRef(msgspec.Struct, frozen=True, rename="camel"):
    """An attachment in a message's headers. Its content is a blob, and a file that the account's owner has."""

    filename: str
    mime: str
    sha256: str
    size: int
    file_id: str
    inline: bool = False
    content_id: str | None = None


class MessageHeaders(msgspec.Struct, frozen=True, rename="camel"):
    """The headers of a message that have no column of their own. Stored as JSON."""

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
    """All people in ``From``, where it names more than the sender."""
    delivered_to: tuple[str, ...] = ()
    """The addresses of ``Delivered-To`` and ``X-Original-To``, in this order: those to which servers delivered it."""


class Body(msgspec.Struct, frozen=True):
    """The body blob: JSON with exactly these two fields. ``html`` is what the sender wrote, not sanitized."""

    html: str | None
    text: str


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """A message that is fetched and parsed, and whose blobs are durable: ready for the ingest transaction."""

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
    """The text that a person reads in its body, for code that wants the words without reading the blob again."""
    original_message_id: str | None = None
    """The Message-ID with which it was sent, where a server has replaced that by ``message_id_header``."""
    received_at: Millis | None = None
    """The provider's own date of arrival, which no sender can choose; ``None`` where it gives none."""
    outgoing_mark: str | None = None
    """Our own header ``X-Svc-Outgoing``. A stranger can write it too, so it counts only in the account's sent mail."""


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
    """A thread's id. It is derived from its account and the provider's id, so links still work after a new sync."""
    return derived_id("thr", account_id, provider_thread_id)


@lru_cache(maxsize=MAX_IDS_REMEMBERED)
def message_id_of(account_id: str, provider_message_id: str) -> str:
    """A message's id. It is cached, because every step of storing a message asks for it."""
    return derived_id("msg", account_id, provider_message_id)


def has_list(label_id: str) -> bool:
    """Whether threads are listed by this label. Inbox and unread have columns instead; categories have no list."""
    return label_id not in {INBOX, UNREAD} and not label_id.startswith("CATEGORY_")


def is_own(labels: frozenset[str]) -> bool:
    return SENT in labels


Trouble = Literal["revoked", "testing-expired", "scope", "api-off", "clock", "other"]
"""What is wrong with an account, as a stable name for programs. People read the sentence in ``problem``."""
