"""The ledger of what failed alone, as a retry needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from svc.mail import counters, queries
from svc.mail.storing import DEVICE_ID
from svc.store import ReadTx, Tx


@dataclass(frozen=True, kw_only=True)
class Failing:
    message_id: str
    step: str
    attempts: int


def all_of(tx: ReadTx, account_id: str) -> list[Failing]:
    rows = tx.all(
        """
        select provider_message_id, step, attempts from mail_ledger
        where account_id = :id order by last_at, provider_message_id, step
        """,
        id=account_id,
    )
    return [Failing(message_id=cast(str, row[0]), step=cast(str, row[1]), attempts=cast(int, row[2])) for row in rows]


def overcome(tx: Tx, *, account_id: str, failure: Failing) -> None:
    """It was tried once more. If that failed too, it counts one attempt more by now, and stays."""
    if queries.connected_account(tx, account_id) is None:
        return
    tx.run(
        """
        delete from mail_ledger where account_id = :account_id and provider_message_id = :message_id
            and step = :step and attempts = :attempts
        """,
        account_id=account_id,
        message_id=failure.message_id,
        step=failure.step,
        attempts=failure.attempts,
    )
    counters.emit_account(tx, account_id, device_id=DEVICE_ID)
