"""Statements that read threads and messages.

None counts or groups messages to show a list. Reads for a person check access in their ``where``.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import Final, cast

import msgspec

from svc.clock import Millis
from svc.formats.person import Person
from svc.mail.accounts.access import READABLE, who
from svc.mail.model import (
    HIDDEN_LABELS,
    Label,
    MessageHeaders,
    MessageRow,
    OwnList,
    OwnMessage,
    Section,
    ThreadRow,
    Words,
)
from svc.mail.threads.writers import decode_writers
from svc.principal import Principal
from svc.store import ReadTx, Row, Value, json_array, texts_of

THREAD: Final = """
    t.id, t.account_id, t.subject, t.snippet, t.sender_name, t.sender_address, t.last_message_at, t.messages,
    t.drafts, t.in_inbox, t.unread, t.visible, t.attachments,
    (select s.until from mail_snoozes s where s.thread_id = t.id), t.twins, t.to_me,
    t.labels, t.leads, exists (select 1 from mail_mutes u where u.thread_id = t.id), t.writers,
    t.sent, t.last_sent_at, t.draft, t.last_draft_at
"""
_AS_THEY_ARE: Final = 16
"""This many first columns are the first fields of a :class:`ThreadRow`, in the same order."""

_MESSAGE: Final = """
    id, account_id, thread_id, provider_message_id, sent_at, sender_name, sender_address, subject, headers, labels,
    body_sha256
"""

_SECTION_WHERE: Final[dict[Section, str]] = {
    "inbox": "t.in_inbox > 0",
    "skipped": "t.in_inbox = 0 and t.visible > 0",
}

_LED: Final = """
    and (t.twins is null or t.leads or not exists (
        select 1 from mail_threads o
        where o.twins = t.twins and o.account_id in (select value from json_each(:account_ids))
            and (not o.leads, o.account_id, o.id) < (not t.leads, t.account_id, t.id)
    ))
"""

_LEADER_IS_LISTED: Final = """
    (t.twins is not null and not t.leads and exists (
        select 1 from mail_threads o join mail_thread_labels ol on ol.account_id = o.account_id
            and ol.label_id = (select value from json_each(:label_ids) where key = o.account_id)
            and ol.last_message_at = o.last_message_at and ol.thread_id = o.id
        where o.twins = t.twins and o.leads
    ))
"""

_OWN_AT: Final[dict[OwnList | None, int]] = {None: 6, "sent": 21, "draft": 23}  # the time's position in THREAD

_Head = tuple[Millis, str, Row, Iterator[Row]]
"""The next row of an index walk: its time and id (the order of the list; ids are unique), the row, and the walk."""

decode_headers = msgspec.json.Decoder(MessageHeaders).decode


_decode_words: Final = msgspec.json.Decoder(Words).decode
_label_ids: Final = lru_cache(maxsize=256)(texts_of)
"""Most threads of a page have the same labels as another one."""


@dataclass(frozen=True, kw_only=True)
class Cursor:
    """Where a page of threads ended: the next begins strictly after this row in list order."""

    at: Millis
    id: str


def labels(tx: ReadTx, account_id: str) -> dict[str, Label]:
    """The labels that the provider lists, by id."""
    rows = tx.all(
        "select label_id, name, system, color from mail_labels where account_id = :id and not gone", id=account_id
    )
    return {
        str(label_id): Label(id=str(label_id), name=str(name), system=bool(system), color=cast("str | None", color))
        for label_id, name, system, color in rows
    }


# Threads


def threads(
    tx: ReadTx, *, account_ids: Sequence[str], sections: Sequence[Section], cursor: Cursor | None, limit: int
) -> list[ThreadRow]:
    """The newest ``limit`` threads after ``cursor``, merged over these sections and accounts.

    Of duplicates (one mail in several of these accounts) only the leader is listed, chosen among these accounts.
    """
    walks = [
        _walk(tx, account_id=one, account_ids=account_ids, section=section, cursor=cursor, limit=limit)
        for one, section in product(account_ids, sections)
    ]
    return merged(walks, limit)


def threads_by_label(tx: ReadTx, *, label_ids: Mapping[str, str], cursor: Cursor | None, limit: int) -> list[ThreadRow]:
    """The newest ``limit`` threads after ``cursor`` that have a label. ``label_ids``: the label's id in each account.

    A thread that is hidden as a whole is listed only under the labels that hide it, as at the provider. A duplicate is
    left out if its leader is listed.
    """
    walks = [
        _walk_label(tx, account_id=account_id, label_ids=label_ids, cursor=cursor, limit=limit)
        for account_id in label_ids
    ]
    return merged(walks, limit)


def threads_written(
    tx: ReadTx, *, account_ids: Sequence[str], own_list: OwnList, cursor: Cursor | None, limit: int
) -> list[ThreadRow]:
    """The ``limit`` threads after ``cursor`` in which the owner sent (or drafted) a message, the latest first.

    A duplicate is left out if its leader is listed.
    """
    walks = [
        _walk_written(tx, account_id=one, account_ids=account_ids, own_list=own_list, cursor=cursor, limit=limit)
        for one in account_ids
    ]
    return merged(walks, limit, own_list)


def merged(walks: Sequence[Iterator[Row]], limit: int, own_list: OwnList | None = None) -> list[ThreadRow]:
    """Merges index walks lazily, one per account: the cost depends on the page, not on the size of the mailboxes."""
    at = _OWN_AT[own_list]
    if len(walks) == 1:
        return [_thread(row) for row in islice(walks[0], limit)]
    heads: list[_Head] = [(row[at], row[0], row, walk) for walk in walks if (row := next(walk, None)) is not None]
    found: list[ThreadRow] = []
    heads.sort()  # there are only as many as accounts
    while heads and len(found) < limit:
        _, _, row, walk = heads.pop()
        found.append(_thread(row))
        if (following := next(walk, None)) is not None:
            insort(heads, (following[at], following[0], following, walk))
    return found


def thread(tx: ReadTx, thread_id: str) -> ThreadRow | None:
    row = tx.one(f"select {THREAD} from mail_threads t where t.id = :id", id=thread_id)
    return None if row is None else _thread(row)


def duplicates_of(tx: ReadTx, groups: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """``(account id, thread id)`` of every thread of these groups; in each group the leader comes first."""
    rows = tx.all(
        """
        select twins, account_id, id from mail_threads
        where twins in (select value from json_each(:groups)) order by leads desc, account_id, id
        """,
        groups=json_array(sorted(groups)),
    )
    found: dict[str, list[tuple[str, str]]] = {}
    for group, account_id, thread_id in rows:
        found.setdefault(str(group), []).append((str(account_id), str(thread_id)))
    return found


def thread_for(tx: ReadTx, principal: Principal, *, thread_id: str) -> ThreadRow | None:
    """The thread, if the principal may read it. For the id of a thread that was joined to another, that other one."""
    row = tx.one(
        f"""
        select {THREAD} from mail_threads t
        where t.id = coalesce((select became from mail_joined_threads where thread_id = :id), :id)
            and t.account_id in {READABLE}
        """,
        id=thread_id,
        **who(principal),
    )
    return None if row is None else _thread(row)


def messages_of(tx: ReadTx, thread_id: str) -> list[MessageRow]:
    """A thread's messages, oldest first."""
    rows = tx.all(f"select {_MESSAGE} from mail_messages where thread_id = :id order by sent_at, id", id=thread_id)
    return [_message(row) for row in rows]


def threads_of(tx: ReadTx, *, message_ids: Iterable[str]) -> list[str]:
    """The threads that these messages are in, each once."""
    rows = tx.all(
        "select distinct thread_id from mail_messages where id in (select value from json_each(:ids)) order by 1",
        ids=json_array(message_ids),
    )
    return [cast(str, thread_id) for (thread_id,) in rows]


def threads_from(tx: ReadTx, *, account_ids: Sequence[str], sender: str) -> list[str]:
    """The threads of these accounts with a message from this address (in lower case) that is not spam, trash or a
    draft, the newest first. Reads all messages of the accounts."""
    rows = tx.all(
        """
        select thread_id from mail_messages
        where account_id in (select value from json_each(:account_ids)) and lower(sender_address) = :sender
            and not exists (select 1 from json_each(labels) where value in ('SPAM', 'TRASH', 'DRAFT'))
        group by thread_id order by max(sent_at) desc, thread_id
        """,
        account_ids=json_array(account_ids),
        sender=sender,
    )
    return [cast(str, thread_id) for (thread_id,) in rows]


def message_for(tx: ReadTx, principal: Principal, *, message_id: str) -> MessageRow | None:
    row = tx.one(
        f"""
        select {_MESSAGE} from mail_messages
        where id = :id and account_id in {READABLE}
        """,
        id=message_id,
        **who(principal),
    )
    return None if row is None else _message(row)


def message(tx: ReadTx, message_id: str) -> MessageRow | None:
    """For the service's own loops: without a check of permissions."""
    row = tx.one(f"select {_MESSAGE} from mail_messages where id = :id", id=message_id)
    return None if row is None else _message(row)


def message_id_header(tx: ReadTx, message_id: str) -> str | None:
    """The Message-ID of one stored message, without angle brackets."""
    return cast("str | None", tx.value("select message_id_header from mail_messages where id = :id", id=message_id))


def message_labels(tx: ReadTx, *, account_id: str, provider_message_id: str) -> tuple[str, str, frozenset[str]] | None:
    """``(message id, thread id, labels)`` of one stored message."""
    row = tx.one(
        "select id, thread_id, labels from mail_messages where account_id = :account_id and provider_message_id = :id",
        account_id=account_id,
        id=provider_message_id,
    )
    return None if row is None else (str(row[0]), str(row[1]), frozenset(texts_of(cast(str, row[2]))))


def known_ids(tx: ReadTx, *, account_id: str, provider_message_ids: Iterable[str]) -> set[str]:
    """Which of these messages are stored already."""
    rows = tx.all(
        """
        select provider_message_id from mail_messages
        where account_id = :account_id and provider_message_id in (select value from json_each(:ids))
        """,
        account_id=account_id,
        ids=json_array(provider_message_ids),
    )
    return {str(row[0]) for row in rows}


def small_message(tx: ReadTx, account_id: str) -> str | None:
    """The provider's id of a small stored message, which is cheap to fetch again. It is chosen at random, because one
    message may not be available any more."""
    return cast(
        "str | None",
        tx.value(
            """
            select provider_message_id from (
                select provider_message_id from (
                    select provider_message_id, raw_size from mail_messages where account_id = :id
                    order by seen_sweep desc limit 100
                ) order by raw_size limit 20
            ) order by random() limit 1
            """,
            id=account_id,
        ),
    )


def _walk(
    tx: ReadTx,
    *,
    account_id: str,
    account_ids: Sequence[str],
    section: Section,
    cursor: Cursor | None,
    limit: int,
) -> Iterator[Row]:
    after = "and (t.last_message_at, t.id) < (:at, :id)" if cursor else ""
    place: dict[str, Value] = {"at": cursor.at, "id": cursor.id} if cursor else {}
    return tx.each(
        f"""
        select {THREAD} from mail_threads t
        where t.account_id = :account_id and {_SECTION_WHERE[section]} {after} {_LED if len(account_ids) > 1 else ""}
        order by t.last_message_at desc, t.id desc limit :limit
        """,
        account_id=account_id,
        **({"account_ids": json_array(account_ids)} if len(account_ids) > 1 else {}),
        limit=limit,
        **place,
    )


def _walk_label(
    tx: ReadTx, *, account_id: str, label_ids: Mapping[str, str], cursor: Cursor | None, limit: int
) -> Iterator[Row]:
    label_id = label_ids[account_id]
    after = "and (l.last_message_at, l.thread_id) < (:at, :id)" if cursor else ""
    place: dict[str, Value] = {"at": cursor.at, "id": cursor.id} if cursor else {}
    seen = "" if label_id in HIDDEN_LABELS else "and t.visible > 0"
    led = _LEADER_IS_LISTED if len(label_ids) > 1 else "0"
    return tx.each(
        f"""
        select {THREAD} from mail_thread_labels l join mail_threads t on t.id = l.thread_id
        where l.account_id = :account_id and l.label_id = :label_id {seen} {after} and not {led}
        order by l.last_message_at desc, l.thread_id desc limit :limit
        """,
        account_id=account_id,
        label_id=label_id,
        label_ids=msgspec.json.encode(label_ids).decode(),
        limit=limit,
        **place,
    )


def _walk_written(
    tx: ReadTx, *, account_id: str, account_ids: Sequence[str], own_list: OwnList, cursor: Cursor | None, limit: int
) -> Iterator[Row]:
    at = f"last_{own_list}_at"
    after = f"and (t.{at}, t.id) < (:at, :id)" if cursor else ""
    place: dict[str, Value] = {"at": cursor.at, "id": cursor.id} if cursor else {}
    return tx.each(
        f"""
        select {THREAD} from mail_threads t
        where t.account_id = :account_id and t.{at} is not null {after} and not (
            t.twins is not null and not t.leads and exists (
                select 1 from mail_threads o where o.twins = t.twins and o.leads and o.{at} is not null
                    and o.account_id in (select value from json_each(:account_ids))
            )
        )
        order by t.{at} desc, t.id desc limit :limit
        """,
        account_id=account_id,
        account_ids=json_array(account_ids),
        limit=limit,
        **place,
    )


def _thread(row: Row) -> ThreadRow:
    """Positional arguments, because a page makes fifty rows, and keyword arguments take three times as long."""
    made: Row = (
        *row[:_AS_THEY_ARE],
        _label_ids(row[16]),
        row[17] > 0,
        row[18] > 0,
        decode_writers(row[19]),
        _own_message(row[20], row[21]),
        _own_message(row[22], row[23]),
    )
    return ThreadRow(*made)


def _own_message(words: object, at: object) -> OwnMessage | None:
    return None if words is None else OwnMessage(words=_decode_words(cast(str, words)), at=cast(int, at))


def _message(row: tuple[object, ...]) -> MessageRow:
    return MessageRow(
        id=cast(str, row[0]),
        account_id=cast(str, row[1]),
        thread_id=cast(str, row[2]),
        provider_message_id=cast(str, row[3]),
        sent_at=cast(int, row[4]),
        sender=Person(name=cast(str, row[5]), address=cast(str, row[6])),
        subject=cast(str, row[7]),
        headers=decode_headers(cast(str, row[8])),
        labels=texts_of(cast(str, row[9])),
        body_sha256=cast(str, row[10]),
    )
