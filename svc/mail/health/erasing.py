"""Erasing an account's local copy: bounded batches, each a transaction that leaves the database consistent.

An account that is being erased is disconnected and nobody sees it any more; only its rows are still being deleted.
Every owner of tables offers an ``erase`` (``svc/erase.py``); ``tasks.py`` calls them, and the account's own row is
deleted last. The blobs are removed later, with all others that nothing names. The people met in its mail, and their
pages, do not belong to the account and stay.
"""

from __future__ import annotations

from svc import undo
from svc.erase import Left
from svc.mail.model import Account
from svc.store import Tx, records


def forget_steps(tx: Tx, account: Account) -> None:
    """Delete undo steps that concern only this account. Call it before its threads are deleted."""
    thread_ids = [str(one) for (one,) in tx.all("select id from mail_threads where account_id = :id", id=account.id)]
    undo.forget_concerning(tx, user_id=account.owner_id, ids=thread_ids)


def erase_events(tx: Tx, *, account_id: str) -> Left:
    """Erase the account's mail from the record of events: sender, subject, the first words.

    If the account is connected again, its messages get the same ids; each is announced only once.
    """

    def some(after: int) -> int | None:
        return records.erase_events(tx, types="mail-", field="accountId", value=account_id, after=after)

    return "more" if records.walk(tx, key=f"mail-erasing-events:{account_id}", step=some) else "nothing"


def erase_news(tx: Tx, *, account_id: str) -> Left:
    """Erase its mail from the live updates that are kept for clients that connect later. ``thread.changed`` becomes
    ``thread.removed``."""

    def some(after: int) -> int | None:
        return records.empty_news(
            tx,
            kinds={"thread.changed": "thread.removed", "task.changed": "task.changed"},
            fields=("accountId", "draft.accountId", "outgoing.accountId"),
            value=account_id,
            payload={"accountId": account_id},
            after=after,
        )

    return "more" if records.walk(tx, key=f"mail-erasing-news:{account_id}", step=some) else "nothing"
