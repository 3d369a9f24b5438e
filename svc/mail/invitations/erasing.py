"""Erases the invitations of an account and the answers to them."""

from __future__ import annotations

from typing import Final

from svc.erase import Left
from svc.store import Tx

ROWS_A_BATCH: Final = 1_000


def erase(tx: Tx, *, account_id: str) -> Left:
    """Erase a batch of rows, the dates first, because one answer may have two hundred of them."""
    gone = tx.run(
        """
        delete from mail_invitation_times where (account_id, uid, recurrence_id, starts) in (
            select account_id, uid, recurrence_id, starts from mail_invitation_times
            where account_id = :id limit :limit
        )
        """,
        id=account_id,
        limit=ROWS_A_BATCH,
    )
    gone += tx.run(
        """
        delete from mail_invitation_answers where (account_id, uid, recurrence_id) in (
            select account_id, uid, recurrence_id from mail_invitation_answers where account_id = :id limit :limit
        )
        """,
        id=account_id,
        limit=ROWS_A_BATCH,
    )
    gone += tx.run(
        """
        delete from mail_proposal_answers where (message_id, uid, recurrence_id) in (
            select message_id, uid, recurrence_id from mail_proposal_answers where account_id = :id limit :limit
        )
        """,
        id=account_id,
        limit=ROWS_A_BATCH,
    )
    gone += tx.run(
        """
        delete from mail_invitations where (message_id, uid, recurrence_id) in (
            select message_id, uid, recurrence_id from mail_invitations where account_id = :id limit :limit
        )
        """,
        id=account_id,
        limit=ROWS_A_BATCH,
    )
    return "more" if gone else "nothing"
