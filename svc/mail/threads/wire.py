"""The wire types of threads: inputs that name threads, rows of a list, and the functions that make them of records."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

import msgspec

from svc.clock import rfc3339, rfc3339_or_none
from svc.errors import Invalid
from svc.idempotency import Repeatable
from svc.mail.accounts import acts
from svc.mail.accounts import queries as account_queries
from svc.mail.model import STARRED, Filter, Label, OwnList, OwnMessage, ThreadRow
from svc.mail.threads import correspondents
from svc.mail.threads import queries as thread_queries
from svc.mail.threads.queries import Cursor
from svc.mail.wire import MAX_INSTANT, MAX_LIST_LIMIT, MAX_THREADS_A_CALL, Id, LabelName
from svc.principal import Principal
from svc.protocol.rows import Wire
from svc.store import ReadTx

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


class ListInput(Wire, frozen=True):
    """A list by ``section`` (``all``: both in one list), by ``label_id`` of one account, or by ``label_name`` in all
    accounts. ``only``: a filter on it."""

    section: Literal["inbox", "skipped", "all"] | None = None
    account_id: Id | None = None
    label_id: Id | None = None
    label_name: LabelName | None = None
    only: Filter | None = None


class ThreadsInput(ListInput, frozen=True):
    """A page of a list: ``limit`` threads after ``cursor``."""

    cursor: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIST_LIMIT)] = 50


class OpenInput(Repeatable, frozen=True, kw_only=True):
    thread_id: Id


class FromMessageInput(Repeatable, frozen=True, kw_only=True):
    message_id: Id


class ThreadIdsInput(Repeatable, frozen=True, kw_only=True):
    """``group``: the client's name for an undo step that it makes by several calls; they are undone together."""

    thread_ids: Annotated[tuple[Id, ...], msgspec.Meta(max_length=MAX_THREADS_A_CALL)]
    group: Id | None = None


# A page has hundreds of these, without reference cycles: ``gc=False`` saves a tenth of the time for a page.


class LabelOut(Wire, frozen=True, gc=False):
    id: str
    name: str
    color: str | None = None


class SenderOut(Wire, frozen=True, gc=False):
    name: str
    address: str
    title: str | None


class WriterOut(Wire, frozen=True, gc=False):
    """``own``: their first mail in the thread was sent by the account; ``bulk``: it went to many, from a list or a
    shop. ``title``: the title of the caller's page about them."""

    name: str
    address: str
    title: str | None
    own: bool
    bulk: bool


class DuplicateOut(Wire, frozen=True, gc=False):
    account_id: str
    thread_id: str


class OwnMessageOut(Wire, frozen=True, gc=False):
    """``sender``: the From address; ``to``: the first recipients; ``others``: how many more there are.
    ``by``: the name of the person who sent it, in a shared account."""

    sender: str
    to: tuple[SenderOut, ...]
    others: int
    snippet: str
    at: str
    by: str | None = None


class ThreadOut(Wire, frozen=True, gc=False):
    """``hidden``: each of its messages is spam, trash or a draft, so that it is in neither section.
    ``message_count``: without the ``draft_count`` messages that are drafts.
    ``twins``: the same mail in other accounts of the caller; Unified shows only the one that ``leads``.
    ``to_me``: one of its messages names the account itself in ``To`` or ``Cc``.
    ``muted``: its new messages skip the inbox.
    ``writers``: if several people wrote, each once, in the order of their first mails; of very many the first and last.
    ``sent``, ``draft``: the newest message that the owner sent, and drafted.
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
    draft_count: int
    has_attachments: bool
    starred: bool
    snoozed_until: str | None
    hidden: bool
    to_me: bool
    muted: bool
    twins: tuple[DuplicateOut, ...]
    leads: bool
    sent: OwnMessageOut | None
    draft: OwnMessageOut | None
    writers: tuple[WriterOut, ...]


class ThreadsOut(Wire, frozen=True):
    threads: tuple[ThreadOut, ...]
    next_cursor: str | None


def thread_summaries(tx: ReadTx, rows: Sequence[ThreadRow], viewer: Principal | None = None) -> tuple[ThreadOut, ...]:
    """The rows of a list, in their order; data that they share is read once.

    They are made for ``viewer``; ``None`` means the owner of each account. The titles of people, and the other accounts
    with the same mail, are private to each viewer.
    """
    labels = {account_id: _Named(labels_out(tx, account_id)) for account_id in {row.account_id for row in rows}}
    titles = correspondents.titles(tx, rows, viewer)
    duplicates = _duplicates(tx, rows, viewer)
    sent = [row.id for row in rows if row.sent is not None]
    senders = acts.senders_of(tx, sent) if sent else {}
    return tuple([_thread_out(row, labels[row.account_id], titles, duplicates, senders) for row in rows])


Groups = dict[str, list[tuple[str, str]]]


class _Named(dict[tuple[str, ...], tuple[LabelOut, ...]]):
    """A cache from label ids to labels with names: most threads of a page have the same ones."""

    def __init__(self, known: Mapping[str, LabelOut]) -> None:
        self._known = known

    def __missing__(self, ids: tuple[str, ...]) -> tuple[LabelOut, ...]:
        self[ids] = named = label_list(ids, self._known)
        return named


def _duplicates(tx: ReadTx, rows: Sequence[ThreadRow], viewer: Principal | None) -> Groups:
    groups = {row.duplicate_group for row in rows if row.duplicate_group is not None}
    found = thread_queries.duplicates_of(tx, groups) if groups else {}
    if viewer is None or viewer.sees_everything or not found:
        return found
    visible = {account.id for account in account_queries.accounts(tx, viewer)}
    return {group: [one for one in threads if one[0] in visible] for group, threads in found.items()}


def _thread_out(
    row: ThreadRow,
    labels: _Named,
    titles: correspondents.Titles,
    groups: Groups,
    senders: Mapping[str, str],
) -> ThreadOut:
    """Positional arguments, because a page makes fifty rows, and keyword arguments take three times as long."""
    group = None if row.duplicate_group is None else groups.get(row.duplicate_group)
    sender = SenderOut(row.sender_name, row.sender_address, titles.get((row.account_id, row.sender_address)))
    return ThreadOut(
        row.id,
        row.account_id,
        row.subject,
        row.snippet,
        rfc3339(row.last_message_at),
        row.unread > 0,
        row.in_inbox > 0,
        labels[row.labels],
        sender,
        row.messages - row.drafts,  # message_count
        row.drafts,
        row.attachments > 0,
        STARRED in row.labels,
        rfc3339_or_none(row.snoozed_until),
        row.visible == 0,  # hidden
        row.to_me > 0,
        row.muted,
        _others(group, row) if group else (),  # twins
        group[0][1] == row.id if group else row.leads,
        None if row.sent is None else _own_message_out(row.sent, row, titles, by=senders.get(row.id)),
        None if row.draft is None else _own_message_out(row.draft, row, titles),
        _writers_out(row, titles) if row.writers else (),
    )


def _others(group: Sequence[tuple[str, str]], row: ThreadRow) -> tuple[DuplicateOut, ...]:
    return tuple(
        DuplicateOut(account_id=account_id, thread_id=duplicate)
        for account_id, duplicate in group
        if duplicate != row.id
    )


def _writers_out(row: ThreadRow, titles: correspondents.Titles) -> tuple[WriterOut, ...]:
    return tuple(
        WriterOut(
            name=one.name,
            address=one.address,
            title=titles.get((row.account_id, one.address)),
            own=one.own,
            bulk=one.bulk,
        )
        for one in row.writers
    )


def _own_message_out(
    own: OwnMessage, row: ThreadRow, titles: correspondents.Titles, *, by: str | None = None
) -> OwnMessageOut:
    return OwnMessageOut(
        sender=own.words.sender,
        to=tuple(
            SenderOut(name=one.name, address=one.address, title=titles.get((row.account_id, one.address)))
            for one in own.words.to
        ),
        others=own.words.others,
        snippet=own.words.snippet,
        at=rfc3339(own.at),
        by=by,
    )


def labels_out(tx: ReadTx, account_id: str) -> dict[str, LabelOut]:
    """An account's labels by id, made once for all rows that show them."""
    return {
        label.id: LabelOut(id=label.id, name=shown_name(label), color=label.color)
        for label in thread_queries.labels(tx, account_id).values()
    }


def label_list(label_ids: tuple[str, ...], known: Mapping[str, LabelOut]) -> tuple[LabelOut, ...]:
    """Labels with their names. A label that the provider has not listed yet has its id as its name."""
    return tuple([known.get(label_id) or _unknown_label(label_id) for label_id in label_ids])


def _unknown_label(label_id: str) -> LabelOut:
    return LabelOut(id=label_id, name=SYSTEM_LABEL_NAMES.get(label_id, label_id))


def shown_name(label: Label) -> str:
    """The label's name for people: the provider's own labels have only their ids as names."""
    return SYSTEM_LABEL_NAMES.get(label.id, label.name)


def encode_cursor(row: ThreadRow, *, own_list: OwnList | None = None) -> str:
    return encode_cursor_at(Cursor(at=row.at(own_list), id=row.id))


def encode_cursor_at(place: Cursor) -> str:
    return base64.urlsafe_b64encode(f"{place.at}:{place.id}".encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> Cursor | None:
    """Raises :class:`Invalid` for a cursor that this server did not give."""
    if cursor is None:
        return None
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        instant, _, thread_id = text.partition(":")
        at = int(instant)
        if abs(at) > MAX_INSTANT:
            raise ValueError("no instant is as far away")
        return Cursor(at=at, id=thread_id)
    except (ValueError, binascii.Error) as error:
        raise Invalid("The cursor is not one that this server gave.") from error
