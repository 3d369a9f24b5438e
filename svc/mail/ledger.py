"""The ledger: messages that failed alone, at which step, and why. Sync goes on beside them, and tries them again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from svc.mail.model import Account
from svc.store import Tx

MAX_REASON_CHARS: Final = 500


@dataclass(frozen=True, kw_only=True)
class Passed:
    """A message that failed alone: which, at which step, and why."""

    provider_message_id: str
    step: str
    reason: str


def note(tx: Tx, account: Account, passed: Iterable[Passed]) -> None:
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
