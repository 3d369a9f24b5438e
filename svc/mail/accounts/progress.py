"""The state of an account's sync: the only function that changes it, and the events of sync.

The table of the transitions is in ``states.py``. Each function is a small transaction. A report of the provider about
an account that was disconnected meanwhile changes nothing. A full sync that was running when the process died continues
from its stored page token.
"""

from __future__ import annotations

from typing import Final, Literal, TypedDict, Unpack

from svc.clock import Millis
from svc.mail.accounts import news as account_news
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts.states import SYNC, AccountEvent
from svc.mail.model import DEVICE_ID, Account, Trouble
from svc.store import Tx

MAX_PROBLEM_CHARS: Final = 500


class Columns(TypedDict, total=False):
    """The columns that a transition writes besides the state, by their names in the table: there, ``sweep`` means the
    full sync. A column that is not given keeps its value, except the first two."""

    problem: str | None
    cause: Trouble | None
    """Both are null unless they are given."""
    owner_id: str | None
    erasing: bool
    cursor: str | None
    sweep_no: int
    sweep_cursor: str | None
    sweep_page_token: str | None
    sweep_started_at: Millis
    progress_done: int
    progress_total: int | None
    provider_total: int | None
    last_synced_at: Millis


def move(tx: Tx, account: Account, event: AccountEvent, **columns: Unpack[Columns]) -> None:
    """Change the account's state as the table says. No other statement changes the state of an existing account.

    ``account`` was read in the same transaction. Raises :class:`svc.machine.ForbiddenTransition`.
    """
    written: Columns = {"problem": None, "cause": None, **columns}
    tx.run(
        f"""
        update mail_accounts set state = :state, {", ".join(f"{column} = :{column}" for column in written)}
        where id = :id
        """,
        state=SYNC.after(account.state, event),
        id=account.id,
        **written,
    )


def listed(tx: Tx, *, account_id: str, done: int, total: int) -> None:
    """The list of a mailbox is being read, before its first full sync can begin: ``done`` of ``total`` messages."""
    account = account_queries.connected_account(tx, account_id)
    if account is None or account.cursor is not None or account.full_sync_cursor is not None:
        return
    move(tx, account, "list", progress_done=done, progress_total=total)
    account_news.emit_account(tx, account_id, device_id=DEVICE_ID)


def begin_full_sync(tx: Tx, *, account_id: str, cursor: str, total: int) -> None:
    """Start (again) to read the whole mailbox. ``cursor`` was taken before the first page, so that nothing is missed
    between the pages and the first poll."""
    account = account_queries.connected_account(tx, account_id)
    if account is None:
        return
    move(
        tx,
        account,
        "begin_full_sync",
        sweep_no=account.full_sync_no + 1,
        sweep_cursor=cursor,
        sweep_page_token=None,
        sweep_started_at=tx.now,
        progress_done=0,
        progress_total=total,
        provider_total=total,
    )
    account_news.emit_account(tx, account_id, device_id=DEVICE_ID)


def page_read(tx: Tx, *, account_id: str, next_page_token: str | None, seen: int) -> None:
    """One more page of the full sync was stored, with ``seen`` messages on it."""
    tx.run(
        """
        update mail_accounts set sweep_page_token = :token, progress_done = progress_done + :done where id = :id
        """,
        token=next_page_token,
        done=seen,
        id=account_id,
    )


def finish_full_sync(tx: Tx, *, account_id: str) -> None:
    """The mailbox was read to its end: polling continues from the point where the full sync began. Idempotent."""
    account = account_queries.connected_account(tx, account_id)
    if account is None or account.full_sync_cursor is None:
        return
    move(
        tx,
        account,
        "finish_full_sync",
        cursor=account.full_sync_cursor,
        sweep_cursor=None,
        sweep_page_token=None,
        last_synced_at=tx.now,
    )
    account_news.emit_account(tx, account_id, device_id=DEVICE_ID)


def finish_poll(tx: Tx, *, account_id: str, cursor: str, provider_total: int | None) -> None:
    """A poll is done. Clients are notified only if something that they show changed. ``provider_total``: the provider's
    number of messages, if it was asked.

    If the cursor was cleared during the poll (``mail.resync``) it stays cleared: the next step is the full sync.
    """
    account = account_queries.connected_account(tx, account_id)
    if account is None:
        return
    move(
        tx,
        account,
        "finish_poll",
        cursor=None if account.cursor is None else cursor,
        last_synced_at=tx.now,
        provider_total=account.provider_total if provider_total is None else provider_total,
    )
    if account.state != "caught-up":
        account_news.emit_account(tx, account_id, device_id=DEVICE_ID)


def one_more_there(tx: Tx, *, account_id: str) -> None:
    """The provider has stored a mail of ours since it last reported its number of messages: add one."""
    tx.run("update mail_accounts set provider_total = provider_total + 1 where id = :id", id=account_id)


def forget_cursor(tx: Tx, *, account_id: str) -> None:
    """The provider no longer knows our cursor: the next step is a full sync. No error is shown."""
    tx.run("update mail_accounts set cursor = null where id = :id and state <> 'disconnected'", id=account_id)


def set_trouble(tx: Tx, *, account_id: str, event: Literal["wait", "lose_grant"], problem: str, cause: Trouble) -> None:
    """Set the reason why sync is stopped: the sentence for the user (``problem``) and its stable name (``cause``).
    Clients are notified only if it changed."""
    account = account_queries.connected_account(tx, account_id)
    problem = problem[:MAX_PROBLEM_CHARS]
    if account is None or (SYNC.after(account.state, event), problem) == (account.state, account.problem):
        return
    move(tx, account, event, problem=problem, cause=cause)
    account_news.emit_account(tx, account_id, device_id=DEVICE_ID)


def resume_full_sync(tx: Tx, *, account_id: str) -> None:
    """The provider answers again in the middle of a full sync."""
    account = account_queries.connected_account(tx, account_id)
    if account is None or account.full_sync_cursor is None or not SYNC.allows(account.state, "resume_full_sync"):
        return
    move(tx, account, "resume_full_sync")
    account_news.emit_account(tx, account_id, device_id=DEVICE_ID)
