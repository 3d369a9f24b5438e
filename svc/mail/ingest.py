"""What the sync loops write: messages in, label changes, deletions. Plain functions over a transaction.

Every function is idempotent: a page repeated, a change told twice or a restart in the middle ends in the same state.
A message that fails alone goes to the ledger and never stops its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import msgspec

from svc.clock import Millis
from svc.mail import carried, counters, ledger, queries, storing, twins
from svc.mail.ledger import Passed
from svc.mail.model import Account, Incoming, MirrorRow
from svc.mail.provider import HistoryChange
from svc.mail.storing import DEVICE_ID
from svc.store import Tx


@dataclass(frozen=True, kw_only=True)
class SweepPage:
    """One page of a sweep, fetched: what was new on it, what was on it at all, and where the next begins."""

    incoming: tuple[Incoming, ...]
    seen: tuple[str, ...]
    passed: tuple[Passed, ...]
    next_page_token: str | None


def store_page(tx: Tx, *, account_id: str, page: SweepPage) -> None:
    """One page of a sweep and the token of the next, in one transaction."""
    account = queries.connected_account(tx, account_id)
    if account is None or account.sweep_history_id is None:
        return
    dirty = storing.store_each(tx, account, page.incoming, backfill=True)
    ledger.note(tx, account, page.passed)
    _mark_seen(tx, account, page.seen)
    counters.refresh_threads(tx, account, dirty, device_id=DEVICE_ID)
    tx.run(
        """
        update mail_accounts set sweep_page_token = :token, progress_done = progress_done + :done where id = :id
        """,
        token=page.next_page_token,
        done=len(page.seen),
        id=account.id,
    )
    counters.emit_account(tx, account.id, device_id=DEVICE_ID)


def mark_seen(tx: Tx, *, account_id: str, provider_message_ids: Sequence[str]) -> None:
    """What the running sweep met beside its pages is there, too."""
    account = queries.connected_account(tx, account_id)
    if account is not None:
        _mark_seen(tx, account, provider_message_ids)


def store_one(tx: Tx, *, account_id: str, message: Incoming, confirmed: Sequence[MirrorRow] = ()) -> None:
    """A message that polling found: its own transaction. ``confirmed``: what was changed since it was read."""
    account = queries.connected_account(tx, account_id)
    if account is None:
        return
    dirty = storing.store_each(tx, account, (message,), backfill=False, confirmed=confirmed)
    counters.refresh_threads(tx, account, dirty, device_id=DEVICE_ID)
    counters.emit_account(tx, account_id, device_id=DEVICE_ID)


def pass_over(tx: Tx, *, account_id: str, passed: Sequence[Passed]) -> None:
    account = queries.connected_account(tx, account_id)
    if account is not None and passed:
        ledger.note(tx, account, passed)
        counters.emit_account(tx, account_id, device_id=DEVICE_ID)


def forget_failures(tx: Tx, *, account_id: str, provider_message_ids: Sequence[str]) -> None:
    """What failed with these messages is of no interest any more: the provider has deleted them."""
    gone = tx.run(
        """
        delete from mail_ledger
        where account_id = :id and provider_message_id in (select value from json_each(:gone))
        """,
        id=account_id,
        gone=_json(provider_message_ids),
    )
    if gone:
        counters.emit_account(tx, account_id, device_id=DEVICE_ID)


def apply_changes(
    tx: Tx, *, account_id: str, changes: Sequence[HistoryChange], confirmed: Sequence[MirrorRow] = ()
) -> None:
    """Label changes and deletions of one message, in the provider's order. Local changes that are pending, or were
    ``confirmed`` since the history was read, stay on top."""
    account = queries.connected_account(tx, account_id)
    if account is None:
        return
    changed = False
    for change in changes:
        stored = queries.message_labels(tx, account_id=account_id, provider_message_id=change.message_id)
        if stored is None:
            continue
        message_id, thread_id, before = stored
        if change.kind == "deleted":
            delete_message(tx, account, message_id=message_id)
        else:
            after = _told(tx, account, change, before, confirmed)
            if after == before:
                continue  # the echo of what was done here: nothing to write, and nothing to tell
            carried.write_labels(tx, account, message_id=message_id, labels=after)
        changed = True
        counters.refresh_thread(tx, account, thread_id, device_id=DEVICE_ID)
    if changed:
        counters.emit_account(tx, account_id, device_id=DEVICE_ID)


def correct_labels(
    tx: Tx,
    *,
    account_id: str,
    labels: Mapping[str, frozenset[str]],
    authority: frozenset[str],
    confirmed: Sequence[MirrorRow] = (),
) -> None:
    """After a sweep: which labels of ``authority`` each message carries (by provider message id); others stay.

    ``confirmed``: what was changed since the labels were listed.
    """
    account = queries.connected_account(tx, account_id)
    if account is None:
        return
    dirty: set[str] = set()
    for provider_message_id, listed in labels.items():
        stored = queries.message_labels(tx, account_id=account_id, provider_message_id=provider_message_id)
        if stored is None:
            continue
        message_id, thread_id, before = stored
        after = carried.with_pending(
            tx,
            account,
            provider_message_id=provider_message_id,
            labels=(before - authority) | listed,
            confirmed=confirmed,
        )
        if after != before:
            carried.write_labels(tx, account, message_id=message_id, labels=after)
            dirty.add(thread_id)
    counters.refresh_threads(tx, account, sorted(dirty), device_id=DEVICE_ID)


def delete_unseen(tx: Tx, *, account_id: str, limit: int) -> int:
    """After a complete sweep: drop what it did not meet. Returns how many went.

    What was stored meanwhile by another way (a copy of a sent message) carries this sweep's number from the start.
    """
    account = queries.connected_account(tx, account_id)
    if account is None:
        return 0
    rows = tx.all(
        """
        select id, thread_id from mail_messages
        where account_id = :id and seen_sweep < :sweep limit :limit
        """,
        id=account_id,
        sweep=account.sweep_no,
        limit=limit,
    )
    for message_id, _ in rows:
        delete_message(tx, account, message_id=str(message_id))
    for thread_id in sorted({str(thread_id) for _, thread_id in rows}):
        counters.refresh_thread(tx, account, thread_id, device_id=DEVICE_ID)
    return len(rows)


# The parts


def delete_message(tx: Tx, account: Account, *, message_id: str) -> None:
    """Forget one message with its files, pending changes and failures; its blobs stay until nothing refers to them."""
    tx.run("delete from files where origin = :origin", origin=f"mail:{message_id}")
    tx.run(
        """
        delete from mail_mirror where account_id = :account_id and provider_message_id =
            (select provider_message_id from mail_messages where id = :id)
        """,
        account_id=account.id,
        id=message_id,
    )
    tx.run(
        """
        delete from mail_ledger where account_id = :account_id and provider_message_id =
            (select provider_message_id from mail_messages where id = :id)
        """,
        account_id=account.id,
        id=message_id,
    )
    thread_id = tx.value("select thread_id from mail_messages where id = :id", id=message_id)
    gone = tx.run("delete from mail_messages where id = :id", id=message_id)
    tx.run("update mail_accounts set messages = messages - :gone where id = :id", gone=gone, id=account.id)
    if thread_id is not None:
        storing.refresh_twins(tx, twins.unlink(tx, thread_id=cast(str, thread_id)))


def _mark_seen(tx: Tx, account: Account, provider_message_ids: Sequence[str]) -> None:
    tx.run(
        """
        update mail_messages set seen_sweep = :sweep
        where account_id = :id and provider_message_id in (select value from json_each(:seen))
        """,
        sweep=account.sweep_no,
        id=account.id,
        seen=_json(provider_message_ids),
    )


def _told(
    tx: Tx, account: Account, change: HistoryChange, before: frozenset[str], confirmed: Sequence[MirrorRow]
) -> frozenset[str]:
    """A message's labels after a change that the provider tells of."""
    told = before
    if change.kind == "labels-added":
        told = before | change.labels
    elif change.kind == "labels-removed":
        told = before - change.labels
    return carried.with_pending(tx, account, provider_message_id=change.message_id, labels=told, confirmed=confirmed)


def _json(values: Sequence[str]) -> str:
    return msgspec.json.encode(list(values)).decode()


def sent_at_of(*, date: Millis | None, received_at: Millis | None, now: Millis) -> Millis:
    """When a message counts as sent: its own ``Date``, unless that lies more than a day after it arrived.

    A sender can thus date a mail back (archives are full of such), but never to the top of the list for ever. Nor can
    a provider whose own date is nonsense: a year that no calendar has would break everything that shows the message.
    """
    arrived = received_at if received_at is not None and 0 <= received_at <= now + _MAX_AHEAD_MS else now
    if date is None or date > arrived + _MAX_AHEAD_MS or date < 0:
        return arrived
    return date


_MAX_AHEAD_MS: Final = 24 * 3_600_000
