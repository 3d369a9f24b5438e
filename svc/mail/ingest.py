"""What the sync loops write: messages in, label changes, deletions. Plain functions over a transaction.

Every function is idempotent: a page repeated, a change told twice or a restart in the middle ends in the same state.
A message that fails alone goes to the ledger and never stops its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import msgspec

from svc.clock import Millis
from svc.files import add_file
from svc.mail import correspondents, counters, queries, twins
from svc.mail.model import (
    HIDDEN_LABELS,
    INBOX,
    UNREAD,
    Account,
    Incoming,
    MirrorRow,
    is_own,
    message_id_of,
    thread_id_of,
)
from svc.mail.provider import HistoryChange
from svc.mail.sending import settling
from svc.mail.twins import Twin
from svc.principal import system
from svc.store import Tx

DEVICE_ID: Final = system("mail-sync").device_id
MAX_REASON_CHARS: Final = 500


@dataclass(frozen=True, kw_only=True)
class Passed:
    """A message that failed alone: which, at which step, and why."""

    provider_message_id: str
    step: str
    reason: str


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
    dirty = _store_each(tx, account, page.incoming, backfill=True)
    _pass_over(tx, account, page.passed)
    _mark_seen(tx, account, page.seen)
    for thread_id in dirty:
        counters.refresh_thread(tx, account, thread_id, device_id=DEVICE_ID)
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
    for thread_id in _store_each(tx, account, (message,), backfill=False, confirmed=confirmed):
        counters.refresh_thread(tx, account, thread_id, device_id=DEVICE_ID)
    counters.emit_account(tx, account_id, device_id=DEVICE_ID)


def pass_over(tx: Tx, *, account_id: str, passed: Sequence[Passed]) -> None:
    account = queries.connected_account(tx, account_id)
    if account is not None and passed:
        _pass_over(tx, account, passed)
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
            write_labels(tx, account, message_id=message_id, labels=after)
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
    for provider_message_id, carried in labels.items():
        stored = queries.message_labels(tx, account_id=account_id, provider_message_id=provider_message_id)
        if stored is None:
            continue
        message_id, thread_id, before = stored
        after = with_pending(
            tx,
            account,
            provider_message_id=provider_message_id,
            labels=(before - authority) | carried,
            confirmed=confirmed,
        )
        if after != before:
            write_labels(tx, account, message_id=message_id, labels=after)
            dirty.add(thread_id)
    for thread_id in sorted(dirty):
        counters.refresh_thread(tx, account, thread_id, device_id=DEVICE_ID)


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


def write_labels(tx: Tx, account: Account, *, message_id: str, labels: frozenset[str]) -> None:
    """Set one message's labels and the flags that follow from them. The caller refreshes its thread."""
    flags = flags_of(labels)
    tx.run(
        """
        update mail_messages set labels = :labels, in_inbox = :in_inbox, unread = :unread, visible = :visible,
            own = :own
        where id = :id and account_id = :account_id
        """,
        id=message_id,
        account_id=account.id,
        labels=_json(sorted(labels)),
        **flags,
    )


def flags_of(labels: frozenset[str]) -> dict[str, int]:
    hidden = bool(labels & HIDDEN_LABELS)
    return {
        "in_inbox": int(INBOX in labels),
        "unread": int(UNREAD in labels and not hidden),
        "visible": int(not hidden),
        "own": int(is_own(labels)),
    }


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
        _refresh_twins(tx, twins.unlink(tx, thread_id=cast(str, thread_id)))


def _refresh_twins(tx: Tx, others: Iterable[Twin]) -> None:
    """Threads of other accounts that were joined with one, or parted from it."""
    for twin in others:
        account = queries.account(tx, twin.account_id)
        if account is not None:
            counters.refresh_thread(tx, account, twin.id, device_id=DEVICE_ID)
            counters.emit_account(tx, account.id, device_id=DEVICE_ID)


def _store_each(
    tx: Tx,
    account: Account,
    messages: Iterable[Incoming],
    *,
    backfill: bool,
    confirmed: Sequence[MirrorRow] = (),
) -> list[str]:
    """Store each in its own savepoint; returns the threads touched, in order."""
    dirty: dict[str, None] = {}
    for message in messages:
        try:
            with tx.savepoint():
                dirty[_store(tx, account, message, backfill=backfill, confirmed=confirmed)] = None
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            _pass_over(
                tx, account, [Passed(provider_message_id=message.provider_message_id, step="store", reason=reason)]
            )
    return list(dirty)


def _store(tx: Tx, account: Account, message: Incoming, *, backfill: bool, confirmed: Sequence[MirrorRow]) -> str:
    """Store one message, or bring the labels of the stored one up to date. Returns its thread's id."""
    labels = with_pending(
        tx,
        account,
        provider_message_id=message.provider_message_id,
        labels=message.labels,
        confirmed=confirmed,
    )
    stored = queries.message_labels(tx, account_id=account.id, provider_message_id=message.provider_message_id)
    if stored is not None:
        message_id, thread_id, _ = stored
        write_labels(tx, account, message_id=message_id, labels=labels)
        _settle_outgoing(tx, account, message, message_id=message_id)
        return thread_id
    message_id = message_id_of(account.id, message.provider_message_id)
    thread_id = thread_id_of(account.id, message.provider_thread_id)
    tx.run(
        """
        insert into mail_threads (id, account_id, provider_thread_id) values (:id, :account_id, :provider_thread_id)
        on conflict do nothing
        """,
        id=thread_id,
        account_id=account.id,
        provider_thread_id=message.provider_thread_id,
    )
    _insert(tx, account, message, message_id=message_id, thread_id=thread_id, labels=labels)
    _refresh_twins(tx, twins.link(tx, account, message_id=message_id))
    for attachment in message.headers.attachments:
        add_file(
            tx,
            id=attachment.file_id,
            owner_id=account.owner_id,
            sha256=attachment.sha256,
            name=attachment.filename,
            mime=attachment.mime,
            size=attachment.size,
            origin=f"mail:{message_id}",
        )
    correspondents.meet(tx, account, message, labels=labels)
    _record_received(tx, account, message, message_id=message_id, thread_id=thread_id, backfill=backfill)
    _settle_outgoing(tx, account, message, message_id=message_id)
    tx.run(
        "delete from mail_ledger where account_id = :account_id and provider_message_id = :id and step <> 'mirror'",
        account_id=account.id,
        id=message.provider_message_id,
    )
    return thread_id


def _insert(
    tx: Tx, account: Account, message: Incoming, *, message_id: str, thread_id: str, labels: frozenset[str]
) -> None:
    tx.run(
        """
        insert into mail_messages (
            id, account_id, thread_id, provider_message_id, message_id_header, sent_at, stored_at, sender_name,
            sender_address, subject, snippet, headers, labels, in_inbox, unread, visible, own, attachments,
            body_sha256, raw_sha256, raw_size, seen_sweep
        ) values (
            :id, :account_id, :thread_id, :provider_message_id, :message_id_header, :sent_at, :stored_at, :sender_name,
            :sender_address, :subject, :snippet, :headers, :labels, :in_inbox, :unread, :visible, :own, :attachments,
            :body_sha256, :raw_sha256, :raw_size, :seen_sweep
        )
        """,
        id=message_id,
        account_id=account.id,
        thread_id=thread_id,
        provider_message_id=message.provider_message_id,
        message_id_header=message.message_id_header,
        sent_at=message.sent_at,
        stored_at=tx.now,
        sender_name=message.sender.name,
        sender_address=message.sender.address,
        subject=message.subject,
        snippet=message.snippet,
        headers=msgspec.json.encode(message.headers).decode(),
        labels=_json(sorted(labels)),
        attachments=sum(not one.inline for one in message.headers.attachments),
        body_sha256=message.body_sha256,
        raw_sha256=message.raw_sha256,
        raw_size=message.raw_size,
        seen_sweep=account.sweep_no,
        **flags_of(labels),
    )
    tx.run("update mail_accounts set messages = messages + 1 where id = :id", id=account.id)


def _record_received(
    tx: Tx, account: Account, message: Incoming, *, message_id: str, thread_id: str, backfill: bool
) -> None:
    """The spec's event, once a stored message; own copies and backfill are marked, so that rules pass them by."""
    tx.record(
        type="mail-received",
        payload={
            "sender": message.sender.address,
            "subject": message.subject,
            "snippet": message.snippet,
            "accountId": account.id,
            "messageId": message_id,
            "threadId": thread_id,
            "own": is_own(message.labels),
            "backfill": backfill,
        },
        audience=account.owner_id,
        device_id=DEVICE_ID,
    )


def _settle_outgoing(tx: Tx, account: Account, message: Incoming, *, message_id: str) -> None:
    """What stands among the account's sent mail was sent, also where nobody heard the provider's answer."""
    if is_own(message.labels):
        settling.found(
            tx,
            account_id=account.id,
            message_id_header=message.message_id_header,
            mark=message.outgoing_mark,
            provider_message_id=message.provider_message_id,
            message_id=message_id,
        )


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
    return with_pending(tx, account, provider_message_id=change.message_id, labels=told, confirmed=confirmed)


def with_pending(
    tx: Tx,
    account: Account,
    *,
    provider_message_id: str,
    labels: frozenset[str],
    confirmed: Sequence[MirrorRow] = (),
) -> frozenset[str]:
    """What a message carries once the changes on their way to the provider have arrived there; ``confirmed`` ones have,
    but only after ``labels`` were read there."""
    arrived = [row for row in confirmed if row.provider_message_id == provider_message_id]
    for row in (*arrived, *queries.pending_for(tx, account_id=account.id, provider_message_id=provider_message_id)):
        labels = (labels - row.remove) | row.add
    return labels


def _pass_over(tx: Tx, account: Account, passed: Iterable[Passed]) -> None:
    for one in passed:
        tx.run(
            """
            insert into mail_ledger (account_id, provider_message_id, step, reason, attempts, first_at, last_at)
            values (:account_id, :id, :step, :reason, 1, :now, :now)
            on conflict do update set reason = :reason, attempts = attempts + 1, last_at = :now
            """,
            account_id=account.id,
            id=one.provider_message_id,
            step=one.step,
            reason=one.reason[:MAX_REASON_CHARS],
            now=tx.now,
        )


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
