"""The transactions of the sync loops: they store messages, label changes and deletions. Plain functions over a ``Tx``.

Every function is idempotent: a repeated page, a change reported twice or a restart in the middle ends in the same
state. A message that fails alone goes to the failures and never stops the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from svc.clock import Millis
from svc.mail.accounts import failures, progress
from svc.mail.accounts import news as account_news
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts.failures import Passed
from svc.mail.changes import message_labels, outbox
from svc.mail.model import DEVICE_ID, Account, Incoming, LabelChange
from svc.mail.providers.seam import HistoryChange
from svc.mail.sync import storing
from svc.mail.sync.steps import IngestStep
from svc.mail.threads import message_rows, thread_rows
from svc.mail.threads import queries as thread_queries
from svc.store import Tx


@dataclass(frozen=True, kw_only=True)
class FullSyncPage:
    """One fetched page of a full sync. ``incoming``: its new messages; ``seen``: the ids of all its messages."""

    incoming: tuple[Incoming, ...]
    seen: tuple[str, ...]
    passed: tuple[Passed, ...]
    next_page_token: str | None


def store_page(tx: Tx, *, account_id: str, page: FullSyncPage, steps: Sequence[IngestStep]) -> None:
    """Stores one page of a full sync and the token of the next page, in one transaction."""
    account = account_queries.connected_account(tx, account_id)
    if account is None or account.full_sync_cursor is None:
        return
    dirty = storing.store_each(tx, account, page.incoming, steps=steps, backfill=True)
    failures.note(tx, account, page.passed)
    message_rows.mark_seen(tx, account, provider_message_ids=page.seen)
    thread_rows.refresh_threads(tx, account, dirty, device_id=DEVICE_ID)
    progress.page_read(tx, account_id=account.id, next_page_token=page.next_page_token, seen=len(page.seen))
    account_news.emit_account(tx, account.id, device_id=DEVICE_ID)


def keep_some(
    tx: Tx,
    *,
    account_id: str,
    incoming: Sequence[Incoming],
    passed: Sequence[Passed],
    steps: Sequence[IngestStep],
) -> None:
    """Stores the messages of a page that came before an outage. The page is read again later, without these."""
    account = account_queries.connected_account(tx, account_id)
    if account is None or not (incoming or passed):
        return
    dirty = storing.store_each(tx, account, incoming, steps=steps, backfill=True)
    failures.note(tx, account, passed)
    thread_rows.refresh_threads(tx, account, dirty, device_id=DEVICE_ID)
    account_news.emit_account(tx, account_id, device_id=DEVICE_ID)


def mark_seen(tx: Tx, *, account_id: str, provider_message_ids: Sequence[str]) -> None:
    """Marks messages as seen by the running full sync, also those that were on none of its pages."""
    account = account_queries.connected_account(tx, account_id)
    if account is not None:
        message_rows.mark_seen(tx, account, provider_message_ids=provider_message_ids)


def store_one(
    tx: Tx,
    *,
    account_id: str,
    message: Incoming,
    steps: Sequence[IngestStep],
    confirmed: Sequence[LabelChange] = (),
) -> None:
    """Stores one message in its own transaction. ``confirmed``: label changes that were confirmed since it was read.

    While a full sync runs, a message that is older than its start is stored as backfill, not as new mail. So is one
    that arrived long before the mailbox was last read: it was marked as deleted until now, or copied there.
    """
    account = account_queries.connected_account(tx, account_id)
    if account is None:
        return
    is_old = account.full_sync_cursor is not None and message.sent_at < (account.full_sync_started_at or 0) - _OLD_MS
    is_old = is_old or _was_there(tx, account, message)
    dirty = storing.store_each(tx, account, (message,), steps=steps, backfill=is_old, confirmed=confirmed)
    thread_rows.refresh_threads(tx, account, dirty, device_id=DEVICE_ID)
    account_news.emit_account(tx, account_id, device_id=DEVICE_ID)


def _was_there(tx: Tx, account: Account, message: Incoming) -> bool:
    """Whether it arrived before the mailbox was last read, and was not passed over then."""
    if message.received_at is None or message.received_at >= (account.last_synced_at or 0) - _LATE_MS:
        return False
    return message.provider_message_id not in account_queries.failed_ids(tx, account_id=account.id)


def apply_changes(
    tx: Tx, *, account_id: str, changes: Sequence[HistoryChange], confirmed: Sequence[LabelChange] = ()
) -> None:
    """Applies label changes and deletions of one message, in the provider's order. Local changes that are pending, or
    that were ``confirmed`` since the history was read, override them."""
    account = account_queries.connected_account(tx, account_id)
    if account is None:
        return
    changed = False
    for change in changes:
        stored = thread_queries.message_labels(tx, account_id=account_id, provider_message_id=change.message_id)
        if stored is None:
            continue
        message_id, thread_id, before = stored
        if change.kind == "deleted":
            delete_message(tx, account, message_id=message_id)
        else:
            after = _told(tx, account, change, before, confirmed)
            if after == before:
                continue  # the echo of a change that was made here: nothing to write, no event
            message_rows.write_labels(tx, account, message_id=message_id, labels=after)
        changed = True
        thread_rows.refresh_thread(tx, account, thread_id, device_id=DEVICE_ID)
    if changed:
        account_news.emit_account(tx, account_id, device_id=DEVICE_ID)


def correct_labels(
    tx: Tx,
    *,
    account_id: str,
    labels: Mapping[str, frozenset[str]],
    authority: frozenset[str],
    confirmed: Sequence[LabelChange] = (),
) -> None:
    """Corrects labels after a full sync. ``labels``: by provider message id, which labels of ``authority`` a message
    carries. Labels that are not in ``authority`` stay. ``confirmed``: changes confirmed since the labels were listed.
    """
    account = account_queries.connected_account(tx, account_id)
    if account is None:
        return
    dirty: set[str] = set()
    for provider_message_id, listed in labels.items():
        stored = thread_queries.message_labels(tx, account_id=account_id, provider_message_id=provider_message_id)
        if stored is None:
            continue
        message_id, thread_id, before = stored
        after = message_labels.with_pending(
            tx,
            account,
            provider_message_id=provider_message_id,
            labels=(before - authority) | listed,
            confirmed=confirmed,
        )
        if after != before:
            message_rows.write_labels(tx, account, message_id=message_id, labels=after)
            dirty.add(thread_id)
    thread_rows.refresh_threads(tx, account, sorted(dirty), device_id=DEVICE_ID)


def delete_unseen(tx: Tx, *, account_id: str, limit: int) -> int:
    """After a complete full sync: deletes messages that it did not see. Returns how many.

    A message that was stored in another way meanwhile (a copy of a sent mail) has this full sync's number from the
    start, so it stays.
    """
    account = account_queries.connected_account(tx, account_id)
    if account is None:
        return 0
    rows = tx.all(
        """
        select id, thread_id from mail_messages
        where account_id = :id and seen_sweep < :sweep limit :limit
        """,
        id=account_id,
        sweep=account.full_sync_no,
        limit=limit,
    )
    for message_id, _ in rows:
        delete_message(tx, account, message_id=str(message_id))
    for thread_id in sorted({str(thread_id) for _, thread_id in rows}):
        thread_rows.refresh_thread(tx, account, thread_id, device_id=DEVICE_ID)
    return len(rows)


# The parts


def delete_message(tx: Tx, account: Account, *, message_id: str) -> None:
    """Deletes one message with its files, pending changes and failures. Its blobs stay until nothing refers to them."""
    stored = tx.one("select provider_message_id, thread_id from mail_messages where id = :id", id=message_id)
    if stored is not None:
        provider_message_id, thread_id = stored
        outbox.forget_message(tx, account_id=account.id, provider_message_id=provider_message_id)
        failures.forget_message(tx, account_id=account.id, provider_message_id=provider_message_id)
        message_rows.delete(tx, account, message_id=message_id, thread_id=thread_id)


def _told(
    tx: Tx, account: Account, change: HistoryChange, before: frozenset[str], confirmed: Sequence[LabelChange]
) -> frozenset[str]:
    """A message's labels after a change that the provider reports, with our own changes on top."""
    told = before
    if change.kind == "labels-added":
        told = before | change.labels
    elif change.kind == "labels-removed":
        told = before - change.labels
    return message_labels.with_pending(
        tx, account, provider_message_id=change.message_id, labels=told, confirmed=confirmed
    )


def sent_at_of(*, date: Millis | None, received_at: Millis | None, now: Millis) -> Millis:
    """When a message counts as sent: its ``Date``, or the time of arrival if ``Date`` is more than a day after that.

    So a sender can set an early date (archives are full of such mail), but no future date that keeps a mail at the top
    of the list. An invalid date from the provider is not used either: a year outside the calendar would break every
    view of the message.
    """
    arrived = received_at if received_at is not None and 0 <= received_at <= now + _MAX_AHEAD_MS else now
    if date is None or date > arrived + _MAX_AHEAD_MS or date < 0:
        return arrived
    return date


_OLD_MS: Final = 3_600_000
"""Mail from the last hour before a full sync began still counts as new: it may have been on its way then."""

_LATE_MS: Final = 24 * 3_600_000
"""How far a provider's date of arrival may be wrong, or late."""

_MAX_AHEAD_MS: Final = 24 * 3_600_000
