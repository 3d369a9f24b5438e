"""The rows of snoozed threads: begins and ends one, and hands it over to another thread.

The job that brings threads back to the inbox when their time has come is ``labelling/tasks.py`` (``Waker``).
"""

from __future__ import annotations

from svc.clock import Millis
from svc.store import Tx


def begin(tx: Tx, *, thread_id: str, account_id: str, until: Millis) -> None:
    tx.run(
        """
        insert into mail_snoozes (thread_id, account_id, until, created_at)
        values (:thread_id, :account_id, :until, :now)
        on conflict do update set until = :until, created_at = :now
        """,
        thread_id=thread_id,
        account_id=account_id,
        until=until,
        now=tx.now,
    )


def end(tx: Tx, *, thread_id: str) -> None:
    tx.run("delete from mail_snoozes where thread_id = :id", id=thread_id)


def hand_over(tx: Tx, *, thread_id: str, to: str) -> None:
    """The thread was joined to ``to``. If ``to`` has its own snooze, that one is kept."""
    tx.run("update or ignore mail_snoozes set thread_id = :to where thread_id = :id", to=to, id=thread_id)
    end(tx, thread_id=thread_id)
