"""An account on the wire."""

from __future__ import annotations

from svc.clock import rfc3339_or_none
from svc.mail.accounts import queries as account_queries
from svc.mail.model import Account, AccountState
from svc.mail.wire import Id
from svc.protocol.rows import Wire
from svc.store import ReadTx

# Inputs


class SenderNameInput(Wire, frozen=True):
    """``name`` may be empty: then ``From`` has the address alone."""

    account_id: Id
    name: str


# Outputs


class Progress(Wire, frozen=True):
    done: int
    total: int


class AccountOut(Wire, frozen=True):
    """``pending``: local changes not yet at the provider; ``failed``: messages that were passed over.

    ``unread_twins``: of ``unread``, the threads that Unified shows (and counts) under another account.
    ``sender_name``: what ``From`` of its mail says beside the address; ``None`` where it says nothing of its own.
    """

    id: str
    address: str
    provider: str
    state: AccountState
    unread: int
    last_synced_at: str | None
    progress: Progress | None
    problem: str | None
    messages: int
    pending: int
    failed: int
    unread_twins: int
    sender_name: str | None


# Records to the wire


def account_summary(tx: ReadTx, account: Account) -> AccountOut:
    pending, failed = account_queries.pending_counts(tx, [account.id])[account.id]
    return AccountOut(
        id=account.id,
        address=account.address,
        provider=account.provider,
        state=account.state,
        unread=account.unread_threads,
        last_synced_at=rfc3339_or_none(account.last_synced_at),
        progress=_progress(account),
        problem=account.problem,
        messages=account.messages,
        pending=pending,
        failed=failed,
        unread_twins=account.unread_twins,
        sender_name=account.sender_name or None,
    )


def _progress(account: Account) -> Progress | None:
    if account.sweep_cursor is None:
        return None
    total = max(account.progress_total or 0, account.progress_done)
    return Progress(done=account.progress_done, total=total)
