"""Erases the proposed replies of an account."""

from __future__ import annotations

from typing import Final

from svc.erase import Left
from svc.store import Tx

ROWS_A_BATCH: Final = 1_000


def erase(tx: Tx, *, account_id: str) -> Left:
    gone = tx.run(
        """
        delete from mail_proposed_replies where id in (
            select id from mail_proposed_replies where account_id = :id limit :limit
        )
        """,
        id=account_id,
        limit=ROWS_A_BATCH,
    )
    return "more" if gone else "nothing"
