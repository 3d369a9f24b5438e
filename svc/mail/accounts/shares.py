"""The rows of sharing: the other people who may read an account, or act in it."""

from __future__ import annotations

from svc.store import Tx


def put(tx: Tx, *, account_id: str, user_id: str, access: str) -> None:
    tx.run(
        """
        insert into mail_shares (account_id, user_id, access, since) values (:account_id, :user_id, :access, :now)
        on conflict do update set access = :access
        """,
        account_id=account_id,
        user_id=user_id,
        access=access,
        now=tx.now,
    )


def remove(tx: Tx, *, account_id: str, user_id: str) -> bool:
    """Returns whether there was a share."""
    gone = tx.run(
        "delete from mail_shares where account_id = :account_id and user_id = :user_id",
        account_id=account_id,
        user_id=user_id,
    )
    return bool(gone)
