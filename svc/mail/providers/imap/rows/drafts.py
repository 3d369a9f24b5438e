"""Our draft copies that are, or may still be, at the server: their marks and texts tell which drafts there are ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from svc.store import ReadTx, Tx, json_array


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The text of a copy as it was sent, or as the server has changed it. Both are ``None`` for a copy from before
    texts were compared. ``content``: the digest of what it says, while it is not known what the server made of it."""

    size: int | None
    sha256: bytes | None
    content: bytes | None


def claim(tx: Tx, *, account_id: str, mark: str, size: int, sha256: bytes, content: bytes | None = None) -> None:
    """Notes a copy before it is sent, so that no look takes it for another program's draft; and again without
    ``content``, once it is known what text the server has."""
    tx.run(
        """
        insert into mail_imap_drafts (account_id, mark, size, sha256, content)
        values (:id, :mark, :size, :sha256, :content)
        on conflict do update set size = :size, sha256 = :sha256, content = :content
        """,
        id=account_id,
        mark=mark,
        size=size,
        sha256=sha256,
        content=content,
    )


def claims(tx: ReadTx, *, account_id: str, marks: Iterable[str | None]) -> dict[str, Claim]:
    """The copies of ours with these marks. Other drafts may carry a mark, too: those of another svc, of this one before
    the account was connected again, and versions that another program made of ours."""
    rows = tx.all(
        """
        select mark, size, sha256, content from mail_imap_drafts
        where account_id = :id and mark in (select value from json_each(:marks))
        """,
        id=account_id,
        marks=json_array(sorted({mark for mark in marks if mark is not None})),
    )
    return {
        str(mark): Claim(
            size=cast("int | None", size),
            sha256=cast("bytes | None", sha256),
            content=cast("bytes | None", content),
        )
        for mark, size, sha256, content in rows
    }


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


def known_uids(tx: ReadTx, *, folder_id: int, uids: Iterable[int]) -> frozenset[int]:
    """Those of these UIDs that are known to be copies of ours. A UID never gets another text."""
    rows = tx.all(
        """
        select uid from mail_imap_places
        where folder_id = :id and is_ours and uid in (select value from json_each(:uids))
        """,
        id=folder_id,
        uids=json_array(uids),
    )
    return frozenset(cast(int, uid) for (uid,) in rows)
