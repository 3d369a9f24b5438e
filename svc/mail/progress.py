"""Where an account's sync stands: the transitions of its state row, each one small transaction.

    (no watermark) --begin_sweep--> backfilling --finish_sweep--> caught-up --history expired--> backfilling
         any --wait--> waiting (tries again by itself)          any --lose_grant--> reconnect (the user must act)

A sweep that was running when the process died goes on from its stored page token.
"""

from __future__ import annotations

from typing import Final

from svc.mail import counters, queries
from svc.mail.model import AccountState
from svc.mail.provider import Trouble
from svc.mail.storing import DEVICE_ID
from svc.store import Tx

MAX_PROBLEM_CHARS: Final = 500


def begin_sweep(tx: Tx, *, account_id: str, history_id: str, total: int) -> None:
    """Start (again) to read the whole mailbox. ``history_id`` was taken before the first page, so that nothing falls
    between the pages and the first poll."""
    changed = tx.run(
        """
        update mail_accounts set state = 'backfilling', problem = null, cause = null, sweep_no = sweep_no + 1,
            sweep_history_id = :history_id, sweep_page_token = null, sweep_started_at = :now, progress_done = 0,
            progress_total = :total, provider_total = :total
        where id = :id and state <> 'disconnected'
        """,
        id=account_id,
        history_id=history_id,
        now=tx.now,
        total=total,
    )
    if changed:
        counters.emit_account(tx, account_id, device_id=DEVICE_ID)


def finish_sweep(tx: Tx, *, account_id: str) -> None:
    """The mailbox was read to its end: polling goes on from where the sweep began."""
    changed = tx.run(
        """
        update mail_accounts set state = 'caught-up', problem = null, cause = null, history_id = sweep_history_id,
            sweep_history_id = null, sweep_page_token = null, last_synced_at = :now
        where id = :id and state <> 'disconnected'
        """,
        id=account_id,
        now=tx.now,
    )
    if changed:
        counters.emit_account(tx, account_id, device_id=DEVICE_ID)


def caught_up(tx: Tx, *, account_id: str, history_id: str, provider_total: int | None) -> None:
    """A poll is done. Clients hear of it only when something they show changed. ``provider_total``: if it was asked."""
    before = queries.connected_account(tx, account_id)
    tx.run(
        """
        update mail_accounts set state = 'caught-up', problem = null, cause = null, history_id = :history_id,
            last_synced_at = :now, provider_total = coalesce(:provider_total, provider_total)
        where id = :id and state <> 'disconnected'
        """,
        id=account_id,
        history_id=history_id,
        provider_total=provider_total,
        now=tx.now,
    )
    if before is not None and before.state != "caught-up":
        counters.emit_account(tx, account_id, device_id=DEVICE_ID)


def forget_watermark(tx: Tx, *, account_id: str) -> None:
    """The provider no longer knows our history id: the next step sweeps. No error is shown."""
    tx.run("update mail_accounts set history_id = null where id = :id and state <> 'disconnected'", id=account_id)


def set_trouble(tx: Tx, *, account_id: str, state: AccountState, problem: str, cause: Trouble) -> None:
    """``waiting`` or ``reconnect``, with the sentence the user reads and its stable name. Told only when it is news."""
    changed = tx.run(
        """
        update mail_accounts set state = :state, problem = :problem, cause = :cause
        where id = :id and state <> 'disconnected' and (state <> :state or problem is not :problem)
        """,
        id=account_id,
        state=state,
        problem=problem[:MAX_PROBLEM_CHARS],
        cause=cause,
    )
    if changed:
        counters.emit_account(tx, account_id, device_id=DEVICE_ID)


def resume(tx: Tx, *, account_id: str) -> None:
    """The provider answers again in the middle of a sweep."""
    changed = tx.run(
        """
        update mail_accounts set state = 'backfilling', problem = null, cause = null
        where id = :id and state in ('waiting', 'reconnect') and sweep_history_id is not null
        """,
        id=account_id,
    )
    if changed:
        counters.emit_account(tx, account_id, device_id=DEVICE_ID)
