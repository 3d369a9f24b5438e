"""Erasing an account's local copy: bounded batches, each a transaction after which everything still holds.

An account that is being erased is disconnected and nobody sees it any more; only its rows are still going. Each batch
finds its work in the database, so that a kill anywhere resumes where it was. Blobs go with the sweep, as nothing names
them any more. What stays is not the account's: the people met in its mail, and their pages.
"""

from __future__ import annotations

from typing import Final

from svc.files import delete_files
from svc.mail import counters, ingest, queries
from svc.mail.model import Account
from svc.mail.sending.model import draft_origin, outgoing_origin
from svc.mail.storing import DEVICE_ID
from svc.store import Tx

THREADS_A_BATCH: Final = 50
OUTGOING_A_BATCH: Final = 100
EVENTS_A_BATCH: Final = 5_000  # looked at, not deleted
NEWS_A_BATCH: Final = 5_000


def forget_steps(tx: Tx, account: Account) -> None:
    """Steps that only concern this account can't be taken back any more. While its threads are still there."""
    tx.run(
        """
        delete from mail_undo where user_id is :owner_id and json_array_length(thread_ids) > 0 and not exists (
            select 1 from json_each(mail_undo.thread_ids) t
            where t.value not in (select id from mail_threads where account_id = :id)
        )
        """,
        owner_id=account.owner_id,
        id=account.id,
    )


def erase_outgoing(tx: Tx, *, account_id: str) -> bool:
    """Drafts, and mails that were sent or are not going to be. A mail on its way stays until it is known what became
    of it. Returns whether there is more to do."""
    drafts = tx.all(
        "select id from mail_drafts where account_id = :id limit :limit", id=account_id, limit=OUTGOING_A_BATCH
    )
    for (draft_id,) in drafts:
        delete_files(tx, origin=draft_origin(draft_id))
        tx.run("delete from mail_drafts where id = :id", id=draft_id)
    outgoing = tx.all(
        """
        select id from mail_outgoing where account_id = :id and state <> 'transmitting' limit :limit
        """,
        id=account_id,
        limit=OUTGOING_A_BATCH,
    )
    for (outgoing_id,) in outgoing:
        delete_files(tx, origin=outgoing_origin(outgoing_id))
        tx.run("delete from mail_outgoing where id = :id", id=outgoing_id)
    left = tx.value(
        """
        select exists (select 1 from mail_outgoing where account_id = :id)
            or exists (select 1 from mail_drafts where account_id = :id)
        """,
        id=account_id,
    )
    return bool(left)


def erase_threads(tx: Tx, *, account_id: str) -> bool:
    """Some threads with all that is in them. Twins in other accounts stand alone then, or lead. Returns whether there
    is more to do."""
    account = queries.account(tx, account_id)
    if account is None:
        return False
    thread_ids = [
        str(thread_id)
        for (thread_id,) in tx.all(
            "select id from mail_threads where account_id = :id order by id limit :limit",
            id=account_id,
            limit=THREADS_A_BATCH,
        )
    ]
    for thread_id in thread_ids:
        for message in queries.messages_of(tx, thread_id):
            ingest.delete_message(tx, account, message_id=message.id)
        counters.refresh_thread(tx, account, thread_id, device_id=DEVICE_ID)
    return len(thread_ids) == THREADS_A_BATCH


def erase_events(tx: Tx, *, account_id: str, after: int) -> int | None:
    """What the record says of its mail: sender, subject, the first words. Returns where to go on, if there is more.

    Connected again, the account's messages come under the same ids; each is announced once.
    """
    until = tx.value(
        "select max(seq) from (select seq from events where seq > :after order by seq limit :limit)",
        after=after,
        limit=EVENTS_A_BATCH,
    )
    if until is None:
        return None
    tx.run(
        """
        delete from events where seq > :after and seq <= :until and type like 'mail-%'
            and json_extract(payload, '$.accountId') = :id
        """,
        after=after,
        until=until,
        id=account_id,
    )
    return int(until)


def erase_news(tx: Tx, *, account_id: str, after: int) -> int | None:
    """What the live updates that are kept for latecomers say of its mail. The rows stay, since a gap would mean that
    something was missed: a thread that changed is told as removed. Returns where to go on, if there is more."""
    until = tx.value(
        "select max(seq) from (select seq from outbox where seq > :after order by seq limit :limit)",
        after=after,
        limit=NEWS_A_BATCH,
    )
    if until is None:
        return None
    tx.run(
        """
        update outbox set payload = json_object('accountId', :id),
            kind = case kind when 'thread.changed' then 'thread.removed' else kind end
        where seq > :after and seq <= :until and kind in ('thread.changed', 'task.changed') and :id in (
            json_extract(payload, '$.accountId'), json_extract(payload, '$.draft.accountId'),
            json_extract(payload, '$.outgoing.accountId')
        )
        """,
        after=after,
        until=until,
        id=account_id,
    )
    return int(until)


def erase_account(tx: Tx, *, account_id: str) -> None:
    """The last of it: labels, snoozes, pending changes, failures and signature go with the account's row."""
    tx.run("delete from mail_accounts where id = :id and erasing", id=account_id)
