"""Queries of the queue of label changes for the provider (``outbox.py`` writes it)."""

from __future__ import annotations

from typing import Final, cast

from svc.clock import Millis
from svc.mail.model import LabelChange
from svc.store import ReadTx, texts_of

_COLUMNS: Final = "m.id, m.provider_message_id, m.add_labels, m.remove_labels, m.attempts, m.created_at"
_GOES_NEXT: Final = """
    m.account_id = :id and m.next_at <= :now and not exists (
        select 1 from mail_mirror e
        where e.account_id = m.account_id and e.provider_message_id = m.provider_message_id and e.id < m.id
    )
"""


def due_changes(tx: ReadTx, account_id: str, *, limit: int) -> list[LabelChange]:
    """The oldest change that is due, and others that make the same change to other messages.

    The changes of one message are sent in order: one that waits holds back the later ones.
    """
    oldest = tx.one(
        f"select {_COLUMNS} from mail_mirror m where {_GOES_NEXT} order by id limit 1", id=account_id, now=tx.now
    )
    if oldest is None:
        return []
    rows = tx.all(
        f"""
        select {_COLUMNS} from mail_mirror m
        where {_GOES_NEXT} and add_labels = :add and remove_labels = :remove order by id limit :limit
        """,
        id=account_id,
        now=tx.now,
        add=oldest[2],
        remove=oldest[3],
        limit=limit,
    )
    return [_label_change(row) for row in rows]


def next_change_at(tx: ReadTx, account_id: str) -> Millis | None:
    """When the next change may be sent. A change that waits behind another of its message does not count."""
    earliest = tx.value(
        """
        select min(next_at) from mail_mirror m
        where account_id = :id and not exists (
            select 1 from mail_mirror e
            where e.account_id = m.account_id and e.provider_message_id = m.provider_message_id and e.id < m.id
        )
        """,
        id=account_id,
    )
    return cast("int | None", earliest)


def pending_for(tx: ReadTx, *, account_id: str, provider_message_id: str) -> list[LabelChange]:
    rows = tx.all(
        f"""
        select {_COLUMNS} from mail_mirror m
        where account_id = :account_id and provider_message_id = :id order by id
        """,
        account_id=account_id,
        id=provider_message_id,
    )
    return [_label_change(row) for row in rows]


def pending_naming(tx: ReadTx, *, account_id: str, label_id: str) -> list[LabelChange]:
    """The queued changes that add or remove this label."""
    rows = tx.all(
        f"""
        select {_COLUMNS} from mail_mirror m where account_id = :account_id and :label_id in (
            select value from json_each(m.add_labels) union all select value from json_each(m.remove_labels)
        ) order by id
        """,
        account_id=account_id,
        label_id=label_id,
    )
    return [_label_change(row) for row in rows]


def _label_change(row: tuple[object, ...]) -> LabelChange:
    return LabelChange(
        id=cast(int, row[0]),
        provider_message_id=cast(str, row[1]),
        add=frozenset(texts_of(cast(str, row[2]))),
        remove=frozenset(texts_of(cast(str, row[3]))),
        attempts=cast(int, row[4]),
        created_at=cast(int, row[5]),
    )
