"""Mail on the wire: the inputs and outputs of the ``mail.*`` procedures, and how a record becomes one."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from svc.clock import rfc3339, rfc3339_or_none
from svc.errors import Invalid
from svc.mail import correspondents, queries
from svc.mail.model import STARRED, Account, Label, Person, Section, ThreadRow
from svc.mail.queries import Cursor
from svc.people import PageRef
from svc.protocol.rows import Wire
from svc.store import ReadTx

MAX_THREADS_A_CALL: Final = 500  # each is one live update; a socket may be 1,000 behind
MAX_LIST_LIMIT: Final = 200
MAX_LABEL_CHARS: Final = 225  # Gmail's own limit
MAX_INSTANT: Final = 2**63 - 1  # what SQLite can hold

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
LabelName = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_LABEL_CHARS)]

SYSTEM_LABEL_NAMES: Final = {
    "INBOX": "Inbox",
    "UNREAD": "Unread",
    "STARRED": "Starred",
    "IMPORTANT": "Important",
    "SENT": "Sent",
    "DRAFT": "Draft",
    "SPAM": "Spam",
    "TRASH": "Trash",
    "CHAT": "Chat",
    "CATEGORY_PERSONAL": "Personal",
    "CATEGORY_SOCIAL": "Social",
    "CATEGORY_PROMOTIONS": "Promotions",
    "CATEGORY_UPDATES": "Updates",
    "CATEGORY_FORUMS": "Forums",
}


# Inputs


class ThreadsInput(Wire, frozen=True):
    """By ``section``, by ``label_id`` of one account, or by ``label_name`` in all of them."""

    section: Section | None = None
    account_id: Id | None = None
    label_id: Id | None = None
    label_name: LabelName | None = None
    cursor: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIST_LIMIT)] = 50


class ThreadInput(Wire, frozen=True):
    id: Id


class OpenInput(Wire, frozen=True):
    thread_id: Id


class ThreadIdsInput(Wire, frozen=True):
    thread_ids: Annotated[tuple[Id, ...], msgspec.Meta(max_length=MAX_THREADS_A_CALL)]


# Outputs


class Progress(Wire, frozen=True):
    done: int
    total: int


class AccountOut(Wire, frozen=True):
    """``pending``: local changes not yet at the provider; ``failed``: messages that were passed over.

    ``unread_twins``: of ``unread``, the threads that Unified shows (and counts) under another account.
    """

    id: str
    address: str
    provider: str
    state: str
    unread: int
    last_synced_at: str | None
    progress: Progress | None
    problem: str | None
    messages: int
    pending: int
    failed: int
    unread_twins: int


class LabelOut(Wire, frozen=True):
    id: str
    name: str
    color: str | None = None


class SenderOut(Wire, frozen=True):
    name: str
    address: str
    title: str | None


class TwinOut(Wire, frozen=True):
    account_id: str
    thread_id: str


class ThreadOut(Wire, frozen=True):
    """``hidden``: each of its messages is spam, trash or a draft, so that it belongs in neither section.

    ``twins``: the same mail in other accounts of the caller; Unified shows the one of them that ``leads``.
    """

    id: str
    account_id: str
    subject: str
    snippet: str
    last_message_at: str
    unread: bool
    in_inbox: bool
    labels: tuple[LabelOut, ...]
    sender: SenderOut
    message_count: int
    has_attachments: bool
    starred: bool
    snoozed_until: str | None
    hidden: bool
    twins: tuple[TwinOut, ...]
    leads: bool


class ThreadsOut(Wire, frozen=True):
    threads: tuple[ThreadOut, ...]
    next_cursor: str | None


class PersonOut(Wire, frozen=True):
    name: str
    address: str


class AttachmentOut(Wire, frozen=True):
    filename: str
    mime: str
    sha256: str
    size: int
    file_id: str


class InlineOut(Wire, frozen=True):
    """A part that the HTML refers to by ``cid:``. The frame drops it; it is shown below."""

    filename: str
    mime: str
    size: int
    file_id: str
    content_id: str


class FilingOut(Wire, frozen=True):
    page_id: str
    path: str
    title: str


class ProposedReplyOut(Wire, frozen=True):
    id: str
    html: str
    rule_id: str


class MessageOut(Wire, frozen=True):
    """``html`` is sanitized, always; a blocked image in it carries an index into ``remote_images``.

    ``inline``: those of ``attachments`` that the HTML names by ``cid:``. ``images_allowed``: the caller trusts
    the sender with remote images.
    ``warnings``: sentences for the reader, about what in this message may deceive.
    """

    id: str
    from_: PersonOut = msgspec.field(name="from")
    to: tuple[PersonOut, ...]
    cc: tuple[PersonOut, ...]
    bcc: tuple[PersonOut, ...]
    reply_to: tuple[PersonOut, ...]
    subject: str
    sent_at: str
    html: str
    text: str
    blocked_images: int
    remote_images: tuple[str, ...]
    labels: tuple[LabelOut, ...]
    attachments: tuple[AttachmentOut, ...]
    inline: tuple[InlineOut, ...]
    own: bool
    unread: bool
    images_allowed: bool
    warnings: tuple[str, ...]


class ThreadDetailOut(Wire, frozen=True):
    thread: ThreadOut
    filing: FilingOut | None
    messages: tuple[MessageOut, ...]
    proposed_reply: ProposedReplyOut | None


def to_builtins(value: msgspec.Struct) -> object:
    return msgspec.to_builtins(value)


# Records to the wire


def account_summary(tx: ReadTx, account: Account) -> AccountOut:
    pending, failed = queries.pending_counts(tx, [account.id])[account.id]
    return AccountOut(
        id=account.id,
        address=account.address,
        provider=account.provider,
        state=account.state,
        unread=account.unread_threads,
        last_synced_at=rfc3339_or_none(account.last_synced_at),
        progress=_progress(account),
        problem=account.problem,
        messages=account.messages,
        pending=pending,
        failed=failed,
        unread_twins=account.unread_twins,
    )


def thread_summaries(tx: ReadTx, rows: Sequence[ThreadRow]) -> tuple[ThreadOut, ...]:
    """Rows of a list, in their order: what they share is looked up once."""
    labels = {account_id: queries.labels(tx, account_id) for account_id in {row.account_id for row in rows}}
    titles = correspondents.titles(tx, rows)
    twins = _twins(tx, rows)
    return tuple(_thread_out(row, labels[row.account_id], titles, twins) for row in rows)


def thread_summary(tx: ReadTx, row: ThreadRow, labels: dict[str, Label] | None = None) -> ThreadOut:
    known = labels if labels is not None else queries.labels(tx, row.account_id)
    return _thread_out(row, known, correspondents.titles(tx, [row]), _twins(tx, [row]))


Groups = dict[str, list[tuple[str, str]]]


def _twins(tx: ReadTx, rows: Sequence[ThreadRow]) -> Groups:
    groups = {row.twins for row in rows if row.twins is not None}
    return queries.twins_of(tx, groups) if groups else {}


def _thread_out(row: ThreadRow, known: dict[str, Label], titles: correspondents.Titles, groups: Groups) -> ThreadOut:
    group = groups.get(row.twins or "", [])
    return ThreadOut(
        id=row.id,
        account_id=row.account_id,
        subject=row.subject,
        snippet=row.snippet,
        last_message_at=rfc3339(row.last_message_at),
        unread=row.unread > 0,
        in_inbox=row.in_inbox > 0,
        labels=label_list(row.labels, known),
        sender=SenderOut(
            name=row.sender_name,
            address=row.sender_address,
            title=titles.get((row.account_id, row.sender_address)),
        ),
        message_count=row.messages,
        has_attachments=row.attachments > 0,
        starred=STARRED in row.labels,
        snoozed_until=rfc3339_or_none(row.snoozed_until),
        hidden=row.visible == 0,
        twins=tuple(TwinOut(account_id=account_id, thread_id=twin) for account_id, twin in group if twin != row.id),
        leads=row.leads,
    )


def label_list(label_ids: tuple[str, ...], known: dict[str, Label]) -> tuple[LabelOut, ...]:
    """Labels with their names; one the provider has not told us of yet goes by its id."""
    found = []
    for label_id in label_ids:
        label = known.get(label_id) or Label(id=label_id, name=label_id, system=False, color=None)
        found.append(LabelOut(id=label_id, name=shown_name(label), color=label.color))
    return tuple(found)


def shown_name(label: Label) -> str:
    """As people say it: the provider calls its own labels by their ids."""
    return SYSTEM_LABEL_NAMES.get(label.id, label.name)


def person(person: Person) -> PersonOut:
    return PersonOut(name=person.name, address=person.address)


def filing(page: PageRef) -> FilingOut:
    return FilingOut(page_id=page.id, path=page.path, title=page.title)


def encode_cursor(row: ThreadRow) -> str:
    return base64.urlsafe_b64encode(f"{row.last_message_at}:{row.id}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> Cursor | None:
    """Raises :class:`Invalid` for anything that this server did not hand out."""
    if cursor is None:
        return None
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        instant, _, thread_id = text.partition(":")
        last_message_at = int(instant)
        if abs(last_message_at) > MAX_INSTANT:
            raise ValueError("no instant is as far away")
        return Cursor(last_message_at=last_message_at, id=thread_id)
    except (ValueError, binascii.Error) as error:
        raise Invalid("The cursor is not one that this server gave.") from error


def _progress(account: Account) -> Progress | None:
    if account.sweep_history_id is None:
        return None
    total = max(account.progress_total or 0, account.progress_done)
    return Progress(done=account.progress_done, total=total)
