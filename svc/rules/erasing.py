"""Erases the data of rules for an account. It comes after mail in the order of features, so it runs while the messages
still exist.
"""

from __future__ import annotations

from typing import Final

from svc.erase import Left
from svc.rules.habits import let_go
from svc.store import Tx

ROWS_A_BATCH: Final = 1_000


def erase(tx: Tx, *, account_id: str) -> Left:
    gone = tx.run(
        """
        delete from rule_runs where id in (
            select r.id from rule_runs r join mail_messages m on m.id = r.message_id
            where m.account_id = :id limit :limit
        )
        """,
        id=account_id,
        limit=ROWS_A_BATCH,
    )
    habits = let_go(tx, account_id=account_id, limit=ROWS_A_BATCH)
    return "more" if gone or habits else "nothing"
