"""Stores messages: a batch together, or one at a time if one of them fails.

What the database may already have for a message (a stored copy, a pending change, a failure) is read once for the whole
batch, since mostly it is nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from svc.mail.accounts import counters, failures
from svc.mail.accounts.failures import Passed
from svc.mail.changes import message_labels, outbox
from svc.mail.model import INBOX, Account, Incoming, LabelChange, message_id_of
from svc.mail.sync.steps import IngestStep, StoredMessage
from svc.mail.threads import blocks, duplicates, message_rows, mutes, references, thread_rows
from svc.mail.threads.references import Place
from svc.principal import system
from svc.store import Tx, json_array

_MUTING: Final = system("mail-mute")
_BLOCKING: Final = system("mail-block")


def store_each(
    tx: Tx,
    account: Account,
    messages: Sequence[Incoming],
    *,
    steps: Sequence[IngestStep],
    backfill: bool,
    confirmed: Sequence[LabelChange] = (),
) -> list[str]:
    """Stores messages. Returns the ids of the changed threads, in order. A message that can't be stored goes to the
    failures.

    All share one savepoint, since one for each would cost a tenth of the whole time. If one fails, each gets its own.
    """
    try:
        with tx.savepoint():
            batch = _batch(tx, account, messages, steps=steps, backfill=backfill, confirmed=confirmed)
            for message in messages:
                batch.store(message)
            return batch.finish()
    except Exception as error:  # a boundary: one mail from outside must never stop the others
        if len(messages) == 1:
            reason = f"{type(error).__name__}: {error}"
            passed = Passed(provider_message_id=messages[0].provider_message_id, step="store", reason=reason)
            failures.note(tx, account, [passed])
            return []
    apart = (store_each(tx, account, [one], steps=steps, backfill=backfill, confirmed=confirmed) for one in messages)
    return list(dict.fromkeys(chain.from_iterable(apart)))


@dataclass(kw_only=True)
class _Batch:
    """``stored``: message id and thread id, by provider message id. ``pending`` and ``failed``: the messages with rows
    in the outbox queue and in the failures. ``has_siblings``: the owner has other accounts, which may hold the same
    mail."""

    tx: Tx
    account: Account
    steps: Sequence[IngestStep]
    backfill: bool
    confirmed: Sequence[LabelChange]
    stored: dict[str, tuple[str, str]]
    pending: frozenset[str]
    failed: frozenset[str]
    has_siblings: bool
    _added: int = 0
    _dirty: dict[str, None] = field(default_factory=dict)

    def store(self, message: Incoming) -> None:
        """Stores one message, or updates the labels and the Message-ID of the stored one."""
        tx, account, labels = self.tx, self.account, message.labels
        if self.confirmed or message.provider_message_id in self.pending:
            labels = message_labels.with_pending(
                tx,
                account,
                provider_message_id=message.provider_message_id,
                labels=labels,
                confirmed=self.confirmed,
            )
        stored = self.stored.get(message.provider_message_id)
        if stored is None:
            message_id, place, labels = self._add(message, labels)
            self._added += 1
        else:
            message_id, place = stored[0], self._met_again(message, stored)
            message_rows.write_labels(tx, account, message_id=message_id, labels=labels)
        thread_id, joined = place.thread_id, place.joined
        self.stored[message.provider_message_id] = message_id, thread_id
        self._dirty[thread_id] = None
        if joined:
            self._follow(joined, thread_id)
        done = StoredMessage(
            account=account,
            message=message,
            message_id=message_id,
            thread_id=thread_id,
            labels=labels,
            is_new=stored is None,
            backfill=self.backfill,
            joined=joined,
        )
        for step in self.steps:
            step(tx, done)

    def finish(self) -> list[str]:
        """Updates the count of messages. Returns the ids of the changed threads, in order."""
        counters.add_messages(self.tx, account_id=self.account.id, by=self._added)
        return list(self._dirty)

    def _follow(self, joined: Iterable[str], thread_id: str) -> None:
        """Notes that threads were merged: the merged ones are refreshed with the batch's other threads."""
        gone = set(joined)
        self._dirty |= dict.fromkeys(gone)
        for one, (message_id, before) in self.stored.items():
            if before in gone:
                self.stored[one] = message_id, thread_id

    def _met_again(self, message: Incoming, stored: tuple[str, str]) -> Place:
        """The thread of a message that was stored before. The server may have given it another Message-ID since."""
        tx, account = self.tx, self.account
        message_id, thread_id = stored
        name = message.message_id_header
        if name is None or not message_rows.note_name(tx, message, message_id=message_id):
            return Place(thread_id=thread_id)
        place = references.rename(tx, account, message, thread_id=thread_id)
        thread_rows.refresh_duplicates(tx, place.duplicates)
        return place

    def _add(self, message: Incoming, labels: frozenset[str]) -> tuple[str, Place, frozenset[str]]:
        tx, account = self.tx, self.account
        message_id = message_id_of(account.id, message.provider_message_id)
        place = references.place(tx, account, message)
        thread_rows.refresh_duplicates(tx, place.duplicates)
        if not self.backfill:
            labels = self._turned_away(message, labels, thread_id=place.thread_id)
        message_rows.insert(tx, account, message, message_id=message_id, thread_id=place.thread_id, labels=labels)
        if self.has_siblings:
            thread_rows.refresh_duplicates(tx, duplicates.link(tx, account, message_id=message_id))
        if message.provider_message_id in self.failed:
            failures.stored_after_all(tx, account_id=account.id, provider_message_id=message.provider_message_id)
        return message_id, place, labels

    def _turned_away(self, message: Incoming, labels: frozenset[str], *, thread_id: str) -> frozenset[str]:
        """The labels of a message that has just come. A blocked sender's goes to spam or trash, and one of a muted
        thread skips the inbox. The change is queued for the provider, too."""
        tx, account = self.tx, self.account
        blocked = blocks.label_on_arrival(tx, account, message, labels=labels)
        if blocked is not None:
            add, by = frozenset({blocked}), _BLOCKING
        elif INBOX in labels and mutes.skips_inbox(tx, account, message, thread_id=thread_id):
            add, by = frozenset(), _MUTING
        else:
            return labels
        remove = frozenset({INBOX}) & labels
        provider_id = message.provider_message_id
        outbox.queue_from(tx, by, account_id=account.id, provider_message_id=provider_id, add=add, remove=remove)
        return (labels - remove) | add


def _batch(
    tx: Tx,
    account: Account,
    messages: Iterable[Incoming],
    *,
    steps: Sequence[IngestStep],
    backfill: bool,
    confirmed: Sequence[LabelChange],
) -> _Batch:
    ids = json_array([message.provider_message_id for message in messages])

    def among(rows: str) -> list[tuple[str, ...]]:
        return tx.all(
            f"{rows} where account_id = :account_id and provider_message_id in (select value from json_each(:ids))",
            account_id=account.id,
            ids=ids,
        )

    stored = among("select provider_message_id, id, thread_id from mail_messages")
    failed = among("select provider_message_id, step from mail_ledger")

    return _Batch(
        tx=tx,
        account=account,
        steps=steps,
        backfill=backfill,
        confirmed=confirmed,
        stored={one: (message_id, thread_id) for one, message_id, thread_id in stored},
        pending=frozenset([one for (one,) in among("select provider_message_id from mail_mirror")]),
        failed=frozenset([one for one, step in failed if step != "change"]),
        has_siblings=tx.value(
            "select exists (select 1 from mail_accounts where owner_id is :owner_id and id <> :id)",
            owner_id=account.owner_id,
            id=account.id,
        )
        == 1,
    )
