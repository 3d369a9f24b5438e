"""The statements of health that read: failures, pending changes, and accounts that are being erased."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from svc.clock import Millis
from svc.mail.accounts import queries as account_queries
from svc.mail.mending.queries import counts as damage_counts
from svc.store import ReadTx, texts_of

MAX_LISTED: Final = 500
"""Failures or pending changes that are listed for one account; further ones are only counted."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A message or change that failed and was passed over. ``message_id`` is the provider's."""

    message_id: str
    step: str
    reason: str
    attempts: int
    last_at: Millis


@dataclass(frozen=True, kw_only=True)
class Counts:
    """``damaged``: damaged blobs of the account's mail; ``lost``: how many of these are lost; ``mended``: blobs that
    were mended lately."""

    pending: int
    failed: int
    damaged: int
    lost: int
    mended: int


@dataclass(frozen=True, kw_only=True)
class Pending:
    """A change that the provider has not confirmed. ``thread_id`` is ``None`` while the message is not here."""

    thread_id: str | None
    subject: str
    add: tuple[str, ...]
    remove: tuple[str, ...]
    attempts: int
    last_error: str | None
    created_at: Millis


def counts(tx: ReadTx, *, account_id: str) -> Counts:
    pending, failed = account_queries.pending_counts(tx, [account_id])[account_id]
    damaged, lost, mended = damage_counts(tx, account_id)
    return Counts(pending=pending, failed=failed, damaged=damaged, lost=lost, mended=mended)


def failures(tx: ReadTx, *, account_id: str) -> list[Failure]:
    """The failures of an account, the newest first."""
    rows = tx.all(
        """
        select provider_message_id, step, reason, attempts, last_at from mail_ledger
        where account_id = :id order by last_at desc, provider_message_id, step limit :limit
        """,
        id=account_id,
        limit=MAX_LISTED,
    )
    return [
        Failure(
            message_id=cast(str, row[0]),
            step=cast(str, row[1]),
            reason=cast(str, row[2]),
            attempts=cast(int, row[3]),
            last_at=cast(int, row[4]),
        )
        for row in rows
    ]


def pending(tx: ReadTx, *, account_id: str) -> list[Pending]:
    """The pending changes of an account, the oldest first: the order in which they are sent."""
    rows = tx.all(
        """
        select m.thread_id, coalesce(m.subject, ''), p.add_labels, p.remove_labels, p.attempts, p.last_error,
            p.created_at
        from mail_mirror p left join mail_messages m
            on m.account_id = p.account_id and m.provider_message_id = p.provider_message_id
        where p.account_id = :id order by p.id limit :limit
        """,
        id=account_id,
        limit=MAX_LISTED,
    )
    return [
        Pending(
            thread_id=cast("str | None", row[0]),
            subject=cast(str, row[1]),
            add=texts_of(cast(str, row[2])),
            remove=texts_of(cast(str, row[3])),
            attempts=cast(int, row[4]),
            last_error=cast("str | None", row[5]),
            created_at=cast(int, row[6]),
        )
        for row in rows
    ]


def erasing(tx: ReadTx) -> list[str]:
    """The accounts that are to be erased."""
    return [str(account_id) for (account_id,) in tx.all("select id from mail_accounts where erasing order by id")]
