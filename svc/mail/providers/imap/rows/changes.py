"""The changes at the server, in order. Each is kept until sync has applied it."""

from __future__ import annotations

from typing import cast

from svc.mail.providers.folders import Place, told
from svc.mail.providers.seam import ChangeKind, HistoryChange
from svc.store import ReadTx, Tx, json_array, texts_of


def newest_change(tx: ReadTx) -> int:
    """The number of the newest change of all accounts. A number is never used again."""
    return cast(int, tx.value("select coalesce(max(seq), 0) from sqlite_sequence where name = 'mail_imap_changes'"))


def place(tx: ReadTx, *, account_id: str) -> int:
    """The place before all changes of the account that sync has not applied yet. A first look notes some, too: of the
    messages that sync has read before it."""
    oldest = tx.value("select min(seq) from mail_imap_changes where account_id = :id", id=account_id)
    return newest_change(tx) if oldest is None else cast(int, oldest) - 1


def changes(tx: ReadTx, *, account_id: str, since: int, limit: int) -> list[tuple[int, HistoryChange]]:
    rows = tx.all(
        """
        select seq, kind, message_id, labels, renamed from mail_imap_changes
        where account_id = :id and seq > :since order by seq limit :limit
        """,
        id=account_id,
        since=since,
        limit=limit,
    )
    return [
        (
            cast(int, seq),
            HistoryChange(
                kind=cast(ChangeKind, kind),
                message_id=str(message_id),
                labels=frozenset(texts_of(str(labels))),
                renamed=bool(renamed),
            ),
        )
        for seq, kind, message_id, labels, renamed in rows
    ]


def forget_changes(tx: Tx, *, account_id: str, until: int) -> None:
    """Deletes the changes that sync has applied."""
    tx.run("delete from mail_imap_changes where account_id = :id and seq <= :until", id=account_id, until=until)


def has_news(tx: ReadTx, *, account_id: str, message_id: str) -> bool:
    """Whether there are changes of a message that sync may not have applied yet."""
    row = tx.one(
        "select 1 from mail_imap_changes where account_id = :account_id and message_id = :message_id limit 1",
        account_id=account_id,
        message_id=message_id,
    )
    return row is not None


def tell(tx: Tx, account_id: str, message_id: str, before: Place, after: Place) -> None:
    added, removed = told(before, after)
    note(tx, account_id, "labels-added", message_id, added)
    note(tx, account_id, "labels-removed", message_id, removed)


def note(
    tx: Tx,
    account_id: str,
    kind: ChangeKind,
    message_id: str,
    labels: frozenset[str] = frozenset(),
    *,
    renamed: bool = False,
) -> None:
    if labels or kind in {"added", "deleted"}:
        tx.run(
            """
            insert into mail_imap_changes (account_id, kind, message_id, labels, renamed)
            values (:account_id, :kind, :message_id, :labels, :renamed)
            """,
            account_id=account_id,
            kind=kind,
            message_id=message_id,
            labels=json_array(sorted(labels)),
            renamed=int(renamed),
        )
