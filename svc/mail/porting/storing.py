"""Stores a batch of imported mails in one transaction. Idempotent: a mail that is stored already keeps its state.

A mail is identified by the hash of its bytes, so the same mail from any number of files is stored once. A later import
of it adds its user labels and changes nothing else: a mail that was read, archived or starred here stays so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from svc.mail.accounts import news as account_news
from svc.mail.accounts import queries as account_queries
from svc.mail.model import DEVICE_ID, Account
from svc.mail.porting.model import Taken, Tally
from svc.mail.sync import storing
from svc.mail.sync.steps import IngestStep
from svc.mail.threads import message_rows, thread_rows
from svc.mail.threads import queries as thread_queries
from svc.store import Tx


def store(tx: Tx, *, account_id: str, taken: Sequence[Taken], steps: Sequence[IngestStep]) -> Tally:
    """Store the mails, and count them. Does nothing if the account is disconnected by now."""
    account = account_queries.connected_account(tx, account_id)
    if account is None:
        return Tally()
    ids = [one.provider_message_id for one in taken]
    here = thread_queries.known_ids(tx, account_id=account_id, provider_message_ids=ids)
    new = [
        replace(one.incoming, labels=one.incoming.labels | one.labels)
        for one in taken
        if one.incoming is not None and one.provider_message_id not in here
    ]
    dirty = set(storing.store_each(tx, account, new, steps=steps, backfill=True))
    for one in taken:
        if one.provider_message_id in here:
            dirty |= _with_labels(tx, account, one)
    thread_rows.refresh_threads(tx, account, sorted(dirty), device_id=DEVICE_ID)
    if dirty:
        account_news.emit_account(tx, account_id, device_id=DEVICE_ID)
    return Tally(added=len(new), known=len(taken) - len(new))


def _with_labels(tx: Tx, account: Account, one: Taken) -> set[str]:
    """Add the mail's user labels. Returns the threads that changed."""
    stored = thread_queries.message_labels(tx, account_id=account.id, provider_message_id=one.provider_message_id)
    if stored is None or one.labels <= stored[2]:
        return set()
    message_id, thread_id, before = stored
    message_rows.write_labels(tx, account, message_id=message_id, labels=before | one.labels)
    return {thread_id}
