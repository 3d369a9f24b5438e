"""What a principal may do with mail: plain functions over a transaction.

Each changes the local state first and queues what the provider has to hear (``mail_mirror``) in the same transaction.
A thread that the caller may not see is as missing as one that never was.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from svc.errors import NotFound
from svc.mail import counters, ingest, queries
from svc.mail.model import INBOX, SPAM, TRASH, UNREAD, Account, MessageRow
from svc.principal import Principal
from svc.store import Tx

_NONE: frozenset[str] = frozenset()


def open_thread(tx: Tx, principal: Principal, *, thread_id: str) -> None:
    """Mark a thread read: ``UNREAD`` dropped from each of its messages, one live update, mirrored to the provider."""
    account = _account_of(tx, principal, thread_id)
    _relabel(tx, principal, account, thread_id, remove=frozenset({UNREAD}))


def mark_unread(tx: Tx, principal: Principal, *, thread_ids: Sequence[str]) -> None:
    """The newest message becomes unread again, as mail programs do; the others stay read."""
    for thread_id in _distinct(thread_ids):
        account = _account_of(tx, principal, thread_id)
        newest = _newest_visible(queries.messages_of(tx, thread_id))
        _relabel(tx, principal, account, thread_id, add=frozenset({UNREAD}), only=newest)


def archive(tx: Tx, principal: Principal, *, thread_ids: Sequence[str]) -> None:
    """``INBOX`` dropped: the threads move to the Skipped section."""
    for thread_id in _distinct(thread_ids):
        account = _account_of(tx, principal, thread_id)
        _relabel(tx, principal, account, thread_id, remove=frozenset({INBOX}))


def unarchive(tx: Tx, principal: Principal, *, thread_ids: Sequence[str]) -> None:
    """Back to the inbox: the newest message that is neither spam nor trash carries ``INBOX`` again."""
    for thread_id in _distinct(thread_ids):
        account = _account_of(tx, principal, thread_id)
        newest = _newest_visible(queries.messages_of(tx, thread_id))
        _relabel(tx, principal, account, thread_id, add=frozenset({INBOX}), only=newest)


def _account_of(tx: Tx, principal: Principal, thread_id: str) -> Account:
    row = queries.thread_for(tx, principal, thread_id=thread_id)
    account = row and queries.account(tx, row.account_id)
    if not account:
        raise NotFound("There is no such thread.")
    return account


def _relabel(
    tx: Tx,
    principal: Principal,
    account: Account,
    thread_id: str,
    *,
    add: frozenset[str] = _NONE,
    remove: frozenset[str] = _NONE,
    only: MessageRow | None = None,
) -> None:
    """Change the labels of a thread's messages (or ``only`` one); nothing is written where nothing changes."""
    changed = False
    for message in [only] if only else queries.messages_of(tx, thread_id):
        before = frozenset(message.labels)
        after = (before - remove) | add
        if after == before:
            continue
        changed = True
        ingest.write_labels(tx, account, message_id=message.id, labels=after)
        _queue_mirror(tx, principal, message, add=after - before, remove=before - after)
    if changed:
        counters.refresh_thread(tx, account, thread_id, device_id=principal.device_id)
        counters.emit_account(tx, account.id, device_id=principal.device_id)


def _queue_mirror(
    tx: Tx, principal: Principal, message: MessageRow, *, add: frozenset[str], remove: frozenset[str]
) -> None:
    tx.run(
        """
        insert into mail_mirror (
            account_id, provider_message_id, add_labels, remove_labels, device_id, created_at, next_at
        ) values (:account_id, :provider_message_id, :add, :remove, :device_id, :now, :now)
        """,
        account_id=message.account_id,
        provider_message_id=message.provider_message_id,
        add=msgspec.json.encode(sorted(add)).decode(),
        remove=msgspec.json.encode(sorted(remove)).decode(),
        device_id=principal.device_id,
        now=tx.now,
    )


def _newest_visible(messages: Sequence[MessageRow]) -> MessageRow:
    visible = [one for one in messages if not {SPAM, TRASH} & set(one.labels)]
    return (visible or list(messages))[-1]


def _distinct(thread_ids: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(thread_ids))
