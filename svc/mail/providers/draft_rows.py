"""The rows that say which drafts are copies of ours, at a provider that gives drafts ids of its own. A row is written
before the copy is sent, and gets the provider's ids once the copy is stored there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from svc.erase import Left
from svc.store import ReadTx, Tx


@dataclass(frozen=True, kw_only=True)
class Copy:
    """``draft_id`` and ``message_id``: the provider's ids, ``None`` while it is not known whether the copy is there."""

    copy: str
    mark: str
    draft_id: str | None
    message_id: str | None


def copies(tx: ReadTx, *, account_id: str) -> tuple[Copy, ...]:
    rows = tx.all(
        """
        select copy, mark, provider_draft_id, provider_message_id from mail_provider_drafts
        where account_id = :id order by copy
        """,
        id=account_id,
    )
    return tuple(
        Copy(
            copy=str(copy),
            mark=str(mark),
            draft_id=cast("str | None", draft_id),
            message_id=cast("str | None", message_id),
        )
        for copy, mark, draft_id, message_id in rows
    )


def settled(tx: ReadTx, *, account_id: str) -> int:
    """How many messages of a mailbox at the provider are copies of our drafts."""
    return cast(
        int,
        tx.value(
            "select count(*) from mail_provider_drafts where account_id = :id and provider_message_id is not null",
            id=account_id,
        ),
    )


def claim(tx: Tx, *, account_id: str, mark: str, copy: str) -> bool:
    """Notes a copy before it is sent, so that a process that is killed looks for it later. Returns whether this copy
    was not noted before."""
    before = tx.value(
        "select 1 from mail_provider_drafts where account_id = :id and copy = :copy", id=account_id, copy=copy
    )
    tx.run(
        """
        insert into mail_provider_drafts (account_id, copy, mark) values (:id, :copy, :mark)
        on conflict do update set provider_draft_id = null, provider_message_id = null
        """,
        id=account_id,
        copy=copy,
        mark=mark,
    )
    return before is None


def take_back(tx: Tx, *, account_id: str, copy: str) -> None:
    """Deletes the note of a copy that certainly was not stored."""
    tx.run(
        "delete from mail_provider_drafts where account_id = :id and copy = :copy and provider_draft_id is null",
        id=account_id,
        copy=copy,
    )


def settle(tx: Tx, *, account_id: str, mark: str, copy: str, draft_id: str, message_id: str) -> None:
    """Notes that the copy is stored at the provider, as the only one of its draft."""
    release(tx, account_id=account_id, mark=mark)
    tx.run(
        """
        insert into mail_provider_drafts (account_id, copy, mark, provider_draft_id, provider_message_id)
        values (:id, :copy, :mark, :draft_id, :message_id)
        """,
        id=account_id,
        copy=copy,
        mark=mark,
        draft_id=draft_id,
        message_id=message_id,
    )


def release(tx: Tx, *, account_id: str, mark: str) -> None:
    """Deletes all rows of a draft: the provider has no copy of it any more."""
    tx.run("delete from mail_provider_drafts where account_id = :id and mark = :mark", id=account_id, mark=mark)


def erase(tx: Tx, *, account_id: str) -> Left:
    tx.run("delete from mail_provider_drafts where account_id = :id", id=account_id)
    return "nothing"
