"""The queue of local label changes that the provider has not confirmed: adds rows, and updates them after each attempt.

Rows survive a restart and are sent oldest first. A row is deleted when the provider has made the change, when the
message is gone there, or when the change was refused or failed too often. In the last case the change is also taken
back here, and noted as a failure that the user sees.
"""

from __future__ import annotations

from collections.abc import Sequence

from svc.clock import Millis
from svc.erase import Left
from svc.mail.accounts import failures
from svc.mail.accounts import news as account_news
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts.failures import Passed
from svc.mail.changes import message_labels
from svc.mail.model import DEVICE_ID, Account, LabelChange, MessageRow
from svc.mail.threads import message_rows, thread_rows
from svc.mail.threads import queries as thread_queries
from svc.principal import Principal
from svc.store import Tx, json_array


def queue(tx: Tx, principal: Principal, message: MessageRow, *, add: frozenset[str], remove: frozenset[str]) -> None:
    """Queue a change for the provider."""
    queue_from(
        tx,
        principal,
        account_id=message.account_id,
        provider_message_id=message.provider_message_id,
        add=add,
        remove=remove,
    )


def queue_from(
    tx: Tx,
    principal: Principal,
    *,
    account_id: str,
    provider_message_id: str,
    add: frozenset[str] = frozenset(),
    remove: frozenset[str] = frozenset(),
) -> None:
    """Queue a change of a message that is not stored yet."""
    tx.run(
        """
        insert into mail_mirror (
            account_id, provider_message_id, add_labels, remove_labels, device_id, created_at, next_at
        ) values (:account_id, :provider_message_id, :add, :remove, :device_id, :now, :now)
        """,
        account_id=account_id,
        provider_message_id=provider_message_id,
        add=json_array(sorted(add)),
        remove=json_array(sorted(remove)),
        device_id=principal.device_id,
        now=tx.now,
    )


def confirm(tx: Tx, *, account_id: str, row_ids: Sequence[int]) -> None:
    if tx.run("delete from mail_mirror where id in (select value from json_each(:ids))", ids=json_array(row_ids)):
        account_news.emit_account(tx, account_id, device_id=DEVICE_ID)


def put_off(tx: Tx, *, row_ids: Sequence[int], next_at: Millis, reason: str) -> None:
    """Note a failure that may be temporary: these rows are tried again at ``next_at``."""
    tx.run(
        """
        update mail_mirror set attempts = attempts + 1, next_at = :next_at, last_error = :reason
        where id in (select value from json_each(:ids))
        """,
        ids=json_array(row_ids),
        next_at=next_at,
        reason=reason,
    )


def leave_out(tx: Tx, row: LabelChange, *, label_id: str) -> None:
    """Remove a label that does not exist any more from a change. A change without other labels is deleted."""
    add, remove = row.add - {label_id}, row.remove - {label_id}
    if not add and not remove:
        tx.run("delete from mail_mirror where id = :id", id=row.id)
        return
    tx.run(
        "update mail_mirror set add_labels = :add, remove_labels = :remove where id = :id",
        add=json_array(sorted(add)),
        remove=json_array(sorted(remove)),
        id=row.id,
    )


def forget_message(tx: Tx, *, account_id: str, provider_message_id: str) -> None:
    """Delete the queued changes of a message that is gone."""
    tx.run(
        "delete from mail_mirror where account_id = :account_id and provider_message_id = :id",
        account_id=account_id,
        id=provider_message_id,
    )


def erase(tx: Tx, *, account_id: str) -> Left:
    """Delete the changes of an account that still wait. They are never sent."""
    tx.run("delete from mail_mirror where account_id = :id", id=account_id)
    return "nothing"


def take_back(tx: Tx, *, account_id: str, row: LabelChange, there: frozenset[str] | None, reason: str) -> None:
    """Take back a change that the provider refuses, or that failed for too long. ``there``: the message's labels at the
    provider; ``None`` where they are not known, and then the change counts as never made.

    Only the labels of this change go back, because the provider's history may have changed the others since.
    """
    account = account_queries.connected_account(tx, account_id)
    if account is None or not tx.run("delete from mail_mirror where id = :id", id=row.id):
        return  # disconnected, or the message was deleted in the meantime, and its changes with it
    _take_back_labels(tx, account, row, there)
    passed = Passed(provider_message_id=row.provider_message_id, step="change", reason=reason)
    failures.pass_over(tx, account_id=account_id, passed=[passed])


def _take_back_labels(tx: Tx, account: Account, row: LabelChange, there: frozenset[str] | None) -> None:
    stored = thread_queries.message_labels(tx, account_id=account.id, provider_message_id=row.provider_message_id)
    if stored is None:
        return
    message_id, thread_id, here = stored
    wanted = row.remove if there is None else there & (row.add | row.remove)
    after = message_labels.with_pending(
        tx,
        account,
        provider_message_id=row.provider_message_id,
        labels=(here - row.add - row.remove) | wanted,
    )
    if after != here:
        message_rows.write_labels(tx, account, message_id=message_id, labels=after)
        thread_rows.refresh_thread(tx, account, thread_id, device_id=DEVICE_ID)
