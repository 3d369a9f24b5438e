"""Which drafts at the server are copies of ours: by the marks of all that were put there and may lie there still."""

from __future__ import annotations

from typing import cast

from svc.store import ReadTx, Tx


def is_ours(tx: ReadTx, *, account_id: str, mark: str | None) -> bool:
    """Others may bear a mark, too: those of another svc, of this one before the account was connected again, and those
    that another program made of ours."""
    row = tx.one("select 1 from mail_imap_drafts where account_id = :id and mark = :mark", id=account_id, mark=mark)
    return row is not None


def claim(tx: Tx, *, account_id: str, mark: str) -> None:
    """Before a copy goes to the server: no look may take it for another program's."""
    tx.run(
        "insert into mail_imap_drafts (account_id, mark) values (:id, :mark) on conflict do nothing",
        id=account_id,
        mark=mark,
    )


def marks(tx: ReadTx, *, account_id: str, draft: str) -> frozenset[str]:
    """Of one draft's copies."""
    rows = tx.all(
        """
        select mark from mail_imap_drafts
        where account_id = :id and substr(mark, 1, length(:draft) + 1) = :draft || ' '
        """,
        id=account_id,
        draft=draft,
    )
    return frozenset(str(mark) for (mark,) in rows)


def release(tx: Tx, *, account_id: str, draft: str, but: str | None = None) -> None:
    """Nothing lies there any more of a draft, or nothing ``but`` one copy."""
    for mark in marks(tx, account_id=account_id, draft=draft) - {but}:
        tx.run("delete from mail_imap_drafts where account_id = :id and mark = :mark", id=account_id, mark=mark)


def newest_uids(tx: ReadTx, *, folder_id: int, limit: int) -> list[int]:
    """Of copies of ours, of any draft, as far as it is known where they lie."""
    rows = tx.all(
        """
        select uid from mail_imap_places where folder_id = :id and is_ours and uid is not null
        order by uid desc limit :limit
        """,
        id=folder_id,
        limit=limit,
    )
    return [cast(int, uid) for (uid,) in rows]
