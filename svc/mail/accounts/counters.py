"""The counters of an account: its messages and its unread threads. Code that changes those adds the difference here."""

from __future__ import annotations

from svc.store import Tx


def add_messages(tx: Tx, *, account_id: str, by: int) -> None:
    if by:
        tx.run("update mail_accounts set messages = messages + :by where id = :id", by=by, id=account_id)


def move_badge(tx: Tx, *, account_id: str, by: int, duplicates_by: int) -> None:
    """``by``: unread threads of the inbox; ``duplicates_by``: those of them that do not lead in Unified."""
    if by or duplicates_by:
        tx.run(
            """
            update mail_accounts set unread_threads = unread_threads + :by, unread_twins = unread_twins + :duplicates_by
            where id = :id
            """,
            by=by,
            duplicates_by=duplicates_by,
            id=account_id,
        )
