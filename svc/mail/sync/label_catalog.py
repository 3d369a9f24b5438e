"""Stores an account's labels as its provider lists them, and removes labels that are no longer listed.

If a label is deleted at the provider, its messages lose it there, but the history does not report that. So this module
removes the label from the messages here, thread by thread, in small transactions. The label's own row is deleted last,
so a crash in between loses nothing. It never invents a label: one that no listing has named yet is shown by its id.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from svc.mail.accounts import failures
from svc.mail.accounts import labels as label_rows
from svc.mail.accounts import news as account_news
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts.failures import Passed
from svc.mail.changes import outbox
from svc.mail.changes import queries as change_queries
from svc.mail.model import DEVICE_ID, INBOX, Account
from svc.mail.providers.seam import ProviderLabel
from svc.mail.threads import message_rows, thread_rows
from svc.mail.threads import queries as thread_queries
from svc.store import Tx

FORGET_BATCH: Final = 200  # threads per transaction


def store_labels(tx: Tx, *, account_id: str, labels: Iterable[ProviderLabel]) -> int:
    """Stores the provider's current list of labels. Returns how many are gone; :func:`forget_gone` removes them."""
    listed = list(labels)
    if all(label.id != INBOX for label in listed) or account_queries.connected_account(tx, account_id) is None:
        return 0  # every mailbox has an inbox, so without it the list is incomplete
    return label_rows.store_listing(tx, account_id=account_id, labels=listed)


def store_label(tx: Tx, *, account_id: str, label: ProviderLabel) -> None:
    if account_queries.connected_account(tx, account_id) is not None:
        label_rows.store(tx, account_id=account_id, label=label)


def forget_gone(tx: Tx, *, account_id: str) -> bool:
    """Removes one label that is gone from some of its threads. Returns whether there may be more to do."""
    account = account_queries.connected_account(tx, account_id)
    gone = tx.one(
        "select label_id, name from mail_labels where account_id = :id and gone order by label_id limit 1",
        id=account_id,
    )
    if account is None or gone is None:
        return False
    label_id, name = gone
    _take_from_queue(tx, account, label_id, name=name)  # first, since queued changes override stored labels
    rows = tx.all(
        "select thread_id from mail_thread_labels where account_id = :id and label_id = :label_id limit :limit",
        id=account_id,
        label_id=label_id,
        limit=FORGET_BATCH,
    )
    for (thread_id,) in rows:
        _take_from_thread(tx, account, thread_id, label_id)
    if len(rows) < FORGET_BATCH:
        label_rows.delete(tx, account_id=account_id, label_id=label_id)
        account_news.emit_account(tx, account_id, device_id=DEVICE_ID)
    return True


def _take_from_thread(tx: Tx, account: Account, thread_id: str, label_id: str) -> None:
    for message in thread_queries.messages_of(tx, thread_id):
        if label_id in message.labels:
            message_rows.write_labels(tx, account, message_id=message.id, labels=frozenset(message.labels) - {label_id})
    thread_rows.refresh_thread(tx, account, thread_id, device_id=DEVICE_ID)


def _take_from_queue(tx: Tx, account: Account, label_id: str, *, name: str) -> None:
    """Takes the label out of queued changes. A change that adds it can't be done any more and becomes a failure; one
    that removes it is done."""
    passed = []
    for row in change_queries.pending_naming(tx, account_id=account.id, label_id=label_id):
        outbox.leave_out(tx, row, label_id=label_id)
        if label_id in row.add:
            reason = f"The label {name} no longer exists at the provider."
            passed.append(Passed(provider_message_id=row.provider_message_id, step="change", reason=reason))
    failures.pass_over(tx, account_id=account.id, passed=passed)
