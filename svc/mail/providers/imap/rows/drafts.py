"""The marks of our draft copies that are, or may still be, at the server. They tell which drafts there are ours."""

from __future__ import annotations

from typing import cast

from svc.store import ReadTx, Tx


def is_ours(tx: ReadTx, *, account_id: str, mark: str | None) -> bool:
    """Whether a mark belongs to a copy of ours. Other drafts may carry a mark, too: those of another svc, of this one
    before the account was connected again, and versions that another program made of ours."""
    row = tx.one("select 1 from mail_imap_drafts where account_id = :id and mark = :mark", id=account_id, mark=mark)
    return row is not None


def claim(tx: Tx, *, account_id: str, mark: str) -> None:
    """Notes a mark before its copy is sent, so that no look takes the copy for another program's draft."""
    tx.run(
        "insert into mail_imap_drafts (account_id, mark) values (:id, :mark) on conflict do nothing",
        id=account_id,
        mark=mark,
    )


def marks(tx: ReadTx, *, account_id: str, draft: str) -> frozenset[str]:
    """The marks of the copies of one draft."""
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
    """Deletes the marks of a draft's copies, which are gone from the server, except the mark ``but``."""
    for mark in marks(tx, account_id=account_id, draft=draft) - {but}:
        tx.run("delete from mail_imap_drafts where account_id = :id and mark = :mark", id=account_id, mark=mark)


def newest_uids(tx: ReadTx, *, folder_id: int, limit: int) -> list[int]:
    """The newest UIDs of our copies in a folder, of any draft, as far as they are known."""
    rows = tx.all(
        """
        select uid from mail_imap_places where folder_id = :id and is_ours and uid is not null
        order by uid desc limit :limit
        """,
        id=folder_id,
        limit=limit,
    )
    return [cast(int, uid) for (uid,) in rows]
