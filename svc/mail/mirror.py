"""The queue of local label changes the provider has not confirmed: what becomes of a row after each attempt.

Rows survive a restart and go out oldest first. A row leaves the queue when the provider did it, when the message is
gone there, or when it was refused or failed too often: then the change is taken back here too, and stands on the
ledger, where the user sees it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from svc.clock import Millis
from svc.mail import carried, counters, ingest, queries
from svc.mail.ledger import Passed
from svc.mail.model import Account, MirrorRow
from svc.mail.storing import DEVICE_ID
from svc.store import Tx


def confirm(tx: Tx, *, account_id: str, row_ids: Sequence[int]) -> None:
    if tx.run("delete from mail_mirror where id in (select value from json_each(:ids))", ids=_json(row_ids)):
        counters.emit_account(tx, account_id, device_id=DEVICE_ID)


def put_off(tx: Tx, *, row_ids: Sequence[int], next_at: Millis, reason: str) -> None:
    """They failed in a way that may pass."""
    tx.run(
        """
        update mail_mirror set attempts = attempts + 1, next_at = :next_at, last_error = :reason
        where id in (select value from json_each(:ids))
        """,
        ids=_json(row_ids),
        next_at=next_at,
        reason=reason,
    )


def take_back(tx: Tx, *, account_id: str, row: MirrorRow, there: frozenset[str] | None, reason: str) -> None:
    """The provider refuses this change, or it failed for too long. ``there``: what the message carries at the provider;
    ``None`` when nobody can say, and the change counts as never made.

    Only the labels of this change go back: of all others, history may have told more by now.
    """
    account = queries.connected_account(tx, account_id)
    if account is None or not tx.run("delete from mail_mirror where id = :id", id=row.id):
        return  # disconnected, or the message was deleted meanwhile, and its changes with it
    _take_back_labels(tx, account, row, there)
    passed = Passed(provider_message_id=row.provider_message_id, step="mirror", reason=reason)
    ingest.pass_over(tx, account_id=account_id, passed=[passed])


def _take_back_labels(tx: Tx, account: Account, row: MirrorRow, there: frozenset[str] | None) -> None:
    stored = queries.message_labels(tx, account_id=account.id, provider_message_id=row.provider_message_id)
    if stored is None:
        return
    message_id, thread_id, here = stored
    wanted = row.remove if there is None else there & (row.add | row.remove)
    after = carried.with_pending(
        tx,
        account,
        provider_message_id=row.provider_message_id,
        labels=(here - row.add - row.remove) | wanted,
    )
    if after != here:
        carried.write_labels(tx, account, message_id=message_id, labels=after)
        counters.refresh_thread(tx, account, thread_id, device_id=DEVICE_ID)


def _json(row_ids: Sequence[int]) -> str:
    return msgspec.json.encode(list(row_ids)).decode()
