"""The inputs and outputs of the procedures of health, and functions that make outputs from records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from svc.clock import Millis, rfc3339, rfc3339_or_none
from svc.mail.health.queries import Counts, Failure, Pending
from svc.mail.model import Account, AccountState, Trouble
from svc.mail.threads.wire import LabelOut, label_list
from svc.mail.wire import Id
from svc.protocol.rows import Wire

MAX_NAMED: Final = 10


class HealthInput(Wire, frozen=True):
    account_id: Id | None = None


class AccountInput(Wire, frozen=True):
    account_id: Id


class DisconnectInput(Wire, frozen=True):
    """``erase``: also delete the local copy of the mail; the mailbox at the provider is not touched."""

    account_id: Id
    erase: bool = False


class FullSyncOut(Wire, frozen=True):
    """``eta_seconds``: the time left, at the rate of the last minutes; ``None`` while there is no rate yet.
    ``listing``: the list of the mailbox is being read, and no message is counted as read yet."""

    done: int
    total: int
    listing: bool
    eta_seconds: int | None


class QuotaOut(Wire, frozen=True):
    """The use of the provider's quota, in the provider's own units."""

    used_last_minute: int
    limit_per_minute: int


class HealthOut(Wire, frozen=True):
    """``provider``: messages at the provider, as it last reported; ``here``: messages stored here.

    ``quota``: ``None`` where there is none. ``damaged``: bodies, raw messages and attachments that are damaged on this
    server; ``lost``: those of them that svc can't mend; ``mended``: those that it mended in the last 30 days.
    ``left_out``: folders that the mailbox shows and that are not the user's own, so their mail is not fetched;
    ``left_out_first``: the names of the first of them.
    """

    account_id: str
    state: AccountState
    problem: str | None
    cause: Trouble | None
    last_synced_at: str | None
    progress: FullSyncOut | None
    provider: int | None
    here: int
    pending: int
    failed: int
    quota: QuotaOut | None
    next_attempt_at: str | None
    damaged: int
    lost: int
    mended: int
    left_out: int
    left_out_first: tuple[str, ...]


class FailureOut(Wire, frozen=True):
    """``message_id`` is the provider's. ``step``: ``fetch``, ``store`` or ``change`` (a change that was taken back)."""

    message_id: str
    step: str
    reason: str
    attempts: int
    last_at: str


class PendingOut(Wire, frozen=True):
    thread_id: str | None
    subject: str
    add: tuple[LabelOut, ...]
    remove: tuple[LabelOut, ...]
    attempts: int
    last_error: str | None
    created_at: str


class DisconnectedOut(Wire, frozen=True):
    """``revoked``: the provider took the access back. If not, ``notice`` says what the person can do about it."""

    revoked: bool
    notice: str | None


def health_out(
    account: Account,
    *,
    counts: Counts,
    eta_s: int | None,
    quota: QuotaOut | None,
    next_attempt_at: Millis | None,
    left_out: tuple[str, ...],
) -> HealthOut:
    return HealthOut(
        account_id=account.id,
        state=account.state,
        problem=account.problem,
        cause=account.cause,
        last_synced_at=rfc3339_or_none(account.last_synced_at),
        progress=_full_sync_out(account, eta_s),
        provider=account.provider_total,
        here=account.messages,
        pending=counts.pending,
        failed=counts.failed,
        quota=quota,
        next_attempt_at=rfc3339_or_none(next_attempt_at),
        damaged=counts.damaged,
        lost=counts.lost,
        mended=counts.mended,
        left_out=len(left_out),
        left_out_first=left_out[:MAX_NAMED],
    )


def _full_sync_out(account: Account, eta_s: int | None) -> FullSyncOut | None:
    if account.progress_total is None or (account.full_sync_cursor is None and not account.is_listed):
        return None
    total = max(account.progress_total, account.progress_done)
    listing = account.is_listed
    return FullSyncOut(done=account.progress_done, total=total, listing=listing, eta_seconds=None if listing else eta_s)


def failure_out(failure: Failure) -> FailureOut:
    return FailureOut(
        message_id=failure.message_id,
        step=failure.step,
        reason=failure.reason,
        attempts=failure.attempts,
        last_at=rfc3339(failure.last_at),
    )


def pending_out(pending: Pending, known: Mapping[str, LabelOut]) -> PendingOut:
    return PendingOut(
        thread_id=pending.thread_id,
        subject=pending.subject,
        add=label_list(pending.add, known),
        remove=label_list(pending.remove, known),
        attempts=pending.attempts,
        last_error=pending.last_error,
        created_at=rfc3339(pending.created_at),
    )
