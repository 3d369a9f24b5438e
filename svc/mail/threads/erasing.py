"""Deletes threads and messages when an account is erased."""

from __future__ import annotations

from typing import Final

from svc.erase import Left
from svc.mail.accounts import queries as account_queries
from svc.mail.model import DEVICE_ID
from svc.mail.threads import message_rows, thread_rows
from svc.mail.threads import queries as thread_queries
from svc.store import Tx

THREADS_A_BATCH: Final = 50


def erase(tx: Tx, *, account_id: str) -> Left:
    """Delete one batch of threads with their messages.

    Their duplicates in other accounts then have no group any more, or another leader.
    """
    account = account_queries.account(tx, account_id)
    if account is None:
        return "nothing"
    thread_ids = [
        str(thread_id)
        for (thread_id,) in tx.all(
            "select id from mail_threads where account_id = :id order by id limit :limit",
            id=account_id,
            limit=THREADS_A_BATCH,
        )
    ]
    for thread_id in thread_ids:
        for message in thread_queries.messages_of(tx, thread_id):
            message_rows.delete(tx, account, message_id=message.id, thread_id=thread_id)
        thread_rows.refresh_thread(tx, account, thread_id, device_id=DEVICE_ID)
    return "more" if len(thread_ids) == THREADS_A_BATCH else "nothing"
