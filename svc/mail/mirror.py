"""The queue of local label changes the provider has not confirmed: what becomes of a row after each attempt.

Rows survive a restart and go out oldest first. A row leaves the queue when the provider did it, when the message is
gone there, or when it was refused or failed too often: then it stands on the ledger, where the user sees it.
"""

from __future__ import annotations

from svc.clock import Millis
from svc.mail import counters, ingest
from svc.mail.ingest import DEVICE_ID, Passed
from svc.mail.model import MirrorRow
from svc.store import Tx


def confirm(tx: Tx, *, account_id: str, row_id: int) -> None:
    if tx.run("delete from mail_mirror where id = :id", id=row_id):
        counters.emit_account(tx, account_id, device_id=DEVICE_ID)


def put_off(tx: Tx, *, row_id: int, next_at: Millis, reason: str) -> None:
    """It failed in a way that may pass."""
    tx.run(
        "update mail_mirror set attempts = attempts + 1, next_at = :next_at, last_error = :reason where id = :id",
        id=row_id,
        next_at=next_at,
        reason=reason,
    )


def give_up(tx: Tx, *, account_id: str, row: MirrorRow, reason: str) -> None:
    """The provider refuses this change, or it failed for too long."""
    passed = Passed(provider_message_id=row.provider_message_id, step="mirror", reason=reason)
    ingest.pass_over(tx, account_id=account_id, passed=[passed])
    confirm(tx, account_id=account_id, row_id=row.id)
