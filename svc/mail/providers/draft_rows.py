"""Which drafts at a provider that numbers them are copies of ours: noted before each goes there, and with the
provider's ids once it lies there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from svc.erase import Left
from svc.store import ReadTx, Tx


@dataclass(frozen=True, kw_only=True)
class Copy:
    """``draft_id`` and ``message_id``: the provider's, ``None`` while nobody knows whether it lies there."""

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
    """How many of a mailbox's messages are copies of ours."""
    return cast(
        int,
        tx.value(
            "select count(*) from mail_provider_drafts where account_id = :id and provider_message_id is not null",
            id=account_id,
        ),
    )


def claim(tx: Tx, *, account_id: str, mark: str, copy: str) -> bool:
    """Before it goes there: whoever is killed then looks for it. Whether it was never on its way before."""
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
    """It is certain that it did not go there."""
    tx.run(
        "delete from mail_provider_drafts where account_id = :id and copy = :copy and provider_draft_id is null",
        id=account_id,
        copy=copy,
    )


def settle(tx: Tx, *, account_id: str, mark: str, copy: str, draft_id: str, message_id: str) -> None:
    """It lies there, and nothing else of the same draft does."""
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
    """Nothing of it lies there any more."""
    tx.run("delete from mail_provider_drafts where account_id = :id and mark = :mark", id=account_id, mark=mark)


def erase(tx: Tx, *, account_id: str) -> Left:
    tx.run("delete from mail_provider_drafts where account_id = :id", id=account_id)
    return "nothing"
