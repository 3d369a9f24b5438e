"""How messages are stored: a batch in one go, and one at a time where one of them can't be.

What the database may have on a message besides (a stored copy, a pending change, a failure) is asked once for the whole
batch: mostly it is nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from svc.files import add_file
from svc.mail import carried, correspondents, counters, ledger, queries, twins
from svc.mail.ledger import Passed
from svc.mail.model import Account, Incoming, MirrorRow, is_own, message_id_of, thread_id_of
from svc.mail.sending import settling
from svc.mail.twins import Twin
from svc.principal import system
from svc.store import Tx

DEVICE_ID: Final = system("mail-sync").device_id


def store_each(
    tx: Tx,
    account: Account,
    messages: Sequence[Incoming],
    *,
    backfill: bool,
    confirmed: Sequence[MirrorRow] = (),
) -> list[str]:
    """Store them; returns the threads touched, in order. A message that can't be stored goes to the ledger."""
    try:
        with tx.savepoint():
            batch = _batch(tx, account, messages, backfill=backfill, confirmed=confirmed)
            for message in messages:
                batch.store(message)
            return batch.finish()
    except Exception:  # of one of them, and nobody knows which: each gets a savepoint of its own, which costs
        batch = _batch(tx, account, messages, backfill=backfill, confirmed=confirmed)
    for message in messages:
        try:
            with tx.savepoint():
                batch.store(message)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            passed = Passed(provider_message_id=message.provider_message_id, step="store", reason=reason)
            ledger.note(tx, account, [passed])
    return batch.finish()


@dataclass(kw_only=True)
class _Batch:
    """``stored``: by provider message id, message and thread. ``pending`` and ``failed``: those with rows in the mirror
    queue and in the ledger. ``has_siblings``: the owner has other accounts, in which the same mail may lie."""

    tx: Tx
    account: Account
    backfill: bool
    confirmed: Sequence[MirrorRow]
    stored: dict[str, tuple[str, str]]
    pending: frozenset[str]
    failed: frozenset[str]
    has_siblings: bool
    _added: int = 0
    _dirty: dict[str, None] = field(default_factory=dict)

    def store(self, message: Incoming) -> None:
        """Store one message, or bring the labels of the stored one up to date."""
        tx, account, labels = self.tx, self.account, message.labels
        if self.confirmed or message.provider_message_id in self.pending:
            labels = carried.with_pending(
                tx,
                account,
                provider_message_id=message.provider_message_id,
                labels=labels,
                confirmed=self.confirmed,
            )
        stored = self.stored.get(message.provider_message_id)
        if stored is None:
            stored = self._add(message, labels)
            self._added += 1
            self.stored[message.provider_message_id] = stored
        else:
            carried.write_labels(tx, account, message_id=stored[0], labels=labels)
            _settle_outgoing(tx, account, message, message_id=stored[0])
        self._dirty[stored[1]] = None

    def finish(self) -> list[str]:
        """Count what was added; the threads touched, in order."""
        if self._added:
            self.tx.run(
                "update mail_accounts set messages = messages + :added where id = :id",
                added=self._added,
                id=self.account.id,
            )
        return list(self._dirty)

    def _add(self, message: Incoming, labels: frozenset[str]) -> tuple[str, str]:
        tx, account = self.tx, self.account
        message_id = message_id_of(account.id, message.provider_message_id)
        thread_id = thread_id_of(account.id, message.provider_thread_id)
        tx.run(
            """
            insert into mail_threads (id, account_id, provider_thread_id)
            values (:id, :account_id, :provider_thread_id) on conflict do nothing
            """,
            id=thread_id,
            account_id=account.id,
            provider_thread_id=message.provider_thread_id,
        )
        _insert(tx, account, message, message_id=message_id, thread_id=thread_id, labels=labels)
        if self.has_siblings:
            refresh_twins(tx, twins.link(tx, account, message_id=message_id))
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
        _record_received(tx, account, message, message_id=message_id, thread_id=thread_id, backfill=self.backfill)
        _settle_outgoing(tx, account, message, message_id=message_id)
        if message.provider_message_id in self.failed:
            tx.run(
                """
                delete from mail_ledger
                where account_id = :account_id and provider_message_id = :id and step <> 'mirror'
                """,
                account_id=account.id,
                id=message.provider_message_id,
            )
        return message_id, thread_id


def _batch(
    tx: Tx, account: Account, messages: Iterable[Incoming], *, backfill: bool, confirmed: Sequence[MirrorRow]
) -> _Batch:
    ids = msgspec.json.encode([message.provider_message_id for message in messages]).decode()

    def among(columns: str, table: str) -> list[tuple[str, ...]]:
        return tx.all(
            f"""
            select provider_message_id, {columns} from {table}
            where account_id = :account_id and provider_message_id in (select value from json_each(:ids))
            """,
            account_id=account.id,
            ids=ids,
        )

    return _Batch(
        tx=tx,
        account=account,
        backfill=backfill,
        confirmed=confirmed,
        stored={one: (message_id, thread_id) for one, message_id, thread_id in among("id, thread_id", "mail_messages")},
        pending=frozenset([one for one, _ in among("id", "mail_mirror")]),
        failed=frozenset([one for one, step in among("step", "mail_ledger") if step != "mirror"]),
        has_siblings=tx.value(
            "select exists (select 1 from mail_accounts where owner_id is :owner_id and id <> :id)",
            owner_id=account.owner_id,
            id=account.id,
        )
        == 1,
    )


def refresh_twins(tx: Tx, others: Iterable[Twin]) -> None:
    """Threads of other accounts that were joined with one, or parted from it."""
    for twin in others:
        account = queries.account(tx, twin.account_id)
        if account is not None:
            counters.refresh_thread(tx, account, twin.id, device_id=DEVICE_ID)
            counters.emit_account(tx, account.id, device_id=DEVICE_ID)


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
        labels=carried.encoded(labels),
        attachments=sum(not one.inline for one in message.headers.attachments),
        body_sha256=message.body_sha256,
        raw_sha256=message.raw_sha256,
        raw_size=message.raw_size,
        seen_sweep=account.sweep_no,
        **carried.flags_of(labels),
    )


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
