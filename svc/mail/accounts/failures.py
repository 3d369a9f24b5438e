"""Records single messages that failed: at which step, and why. Sync continues without them, and tries them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, cast

from svc.mail.accounts import news as account_news
from svc.mail.accounts import queries as account_queries
from svc.mail.model import DEVICE_ID, Account
from svc.store import ReadTx, Tx, json_array

MAX_REASON_CHARS: Final = 500


@dataclass(frozen=True, kw_only=True)
class Passed:
    """A single message that failed: which, at which step, and why."""

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


def pass_over(tx: Tx, *, account_id: str, passed: Sequence[Passed]) -> None:
    account = account_queries.connected_account(tx, account_id)
    if account is not None and passed:
        note(tx, account, passed)
        account_news.emit_account(tx, account_id, device_id=DEVICE_ID)


def forget_failures(tx: Tx, *, account_id: str, provider_message_ids: Sequence[str]) -> None:
    """Delete the failures of these messages: the provider has deleted the messages."""
    gone = tx.run(
        """
        delete from mail_ledger
        where account_id = :id and provider_message_id in (select value from json_each(:gone))
        """,
        id=account_id,
        gone=json_array(provider_message_ids),
    )
    if gone:
        account_news.emit_account(tx, account_id, device_id=DEVICE_ID)


def stored_after_all(tx: Tx, *, account_id: str, provider_message_id: str) -> None:
    """The message is stored now: delete its failures, except a change of it that the provider refused."""
    tx.run(
        """
        delete from mail_ledger where account_id = :account_id and provider_message_id = :id and step <> 'change'
        """,
        account_id=account_id,
        id=provider_message_id,
    )


def forget_message(tx: Tx, *, account_id: str, provider_message_id: str) -> None:
    """The message is deleted here: delete its failures. The caller emits the account's update."""
    tx.run(
        "delete from mail_ledger where account_id = :account_id and provider_message_id = :id",
        account_id=account_id,
        id=provider_message_id,
    )


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
    """The message was tried again: delete this failure. If it failed again, its number of attempts differs, and it
    stays."""
    if account_queries.connected_account(tx, account_id) is None:
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
    account_news.emit_account(tx, account_id, device_id=DEVICE_ID)
