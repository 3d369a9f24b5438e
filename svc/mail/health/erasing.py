"""Erasing an account's local copy: bounded batches, each a transaction after which everything still holds.

An account that is being erased is disconnected and nobody sees it any more; only its rows are still going. Whoever owns
tables offers an ``erase`` (``svc/erase.py``); ``tasks.py`` calls them, the account's own row last. The blobs are
removed later, with all others that nothing names. What stays is not the account's: the people met in its mail, and
their pages.
"""

from __future__ import annotations

from svc import undo
from svc.erase import Left
from svc.mail.model import Account
from svc.store import Tx, records


def forget_steps(tx: Tx, account: Account) -> None:
    """Steps that only concern this account can't be taken back any more. While its threads are still there."""
    thread_ids = [str(one) for (one,) in tx.all("select id from mail_threads where account_id = :id", id=account.id)]
    undo.forget_concerning(tx, user_id=account.owner_id, ids=thread_ids)


def erase_events(tx: Tx, *, account_id: str) -> Left:
    """What the record says of its mail: sender, subject, the first words.

    Connected again, the account's messages come under the same ids; each is announced once.
    """

    def some(after: int) -> int | None:
        return records.erase_events(tx, types="mail-", field="accountId", value=account_id, after=after)

    return "more" if records.walk(tx, key=f"mail-erasing-events:{account_id}", step=some) else "nothing"


def erase_news(tx: Tx, *, account_id: str) -> Left:
    """What the live updates that are kept for latecomers say of its mail: a thread that changed is told as removed."""

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
