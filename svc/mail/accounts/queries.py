"""Statements that read the accounts of mail, and how many of their messages failed.

Ownership stands in each ``where``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, cast

from svc.mail.model import (
    Account,
    AccountState,
    Trouble,
)
from svc.principal import Principal
from svc.store import ReadTx, Value, json_array

_ACCOUNT: Final = """
    id, owner_id, address, provider, state, problem, cursor, sweep_no, sweep_cursor, sweep_page_token,
    sweep_started_at, progress_done, progress_total, messages, unread_threads, last_synced_at,
    unread_twins, cause, provider_total, erasing, sender_name
"""

# A device paired before the claim has no user yet.
MAY_SEE: Final = "(:everything or owner_id is :user_id) and not erasing"


# Accounts


def accounts(tx: ReadTx, principal: Principal) -> list[Account]:
    """The caller's accounts, oldest first."""
    rows = tx.all(f"select {_ACCOUNT} from mail_accounts where {MAY_SEE} order by created_at, id", **who(principal))
    return [_account(row) for row in rows]


def account_for(tx: ReadTx, principal: Principal, *, account_id: str) -> Account | None:
    row = tx.one(f"select {_ACCOUNT} from mail_accounts where id = :id and {MAY_SEE}", id=account_id, **who(principal))
    return None if row is None else _account(row)


def account(tx: ReadTx, account_id: str) -> Account | None:
    """For the service's own loops: no principal asks."""
    row = tx.one(f"select {_ACCOUNT} from mail_accounts where id = :id", id=account_id)
    return None if row is None else _account(row)


def connected_account(tx: ReadTx, account_id: str) -> Account | None:
    """For those who write what the provider said: nothing is written any more once the account is disconnected."""
    found = account(tx, account_id)
    return None if found is None or found.state == "disconnected" else found


def account_by_address(tx: ReadTx, address: str) -> Account | None:
    row = tx.one(f"select {_ACCOUNT} from mail_accounts where address = :address", address=address.lower())
    return None if row is None else _account(row)


def addresses_of(tx: ReadTx, *, owner_id: str | None) -> frozenset[str]:
    """The addresses of all accounts of one owner, lower case."""
    rows = tx.all("select address from mail_accounts where owner_id is :owner_id", owner_id=owner_id)
    return frozenset(str(address) for (address,) in rows)


def owners_of(tx: ReadTx, *, account_ids: Iterable[str]) -> dict[str, str | None]:
    """Whose these accounts are."""
    rows = tx.all(
        "select id, owner_id from mail_accounts where id in (select value from json_each(:ids))",
        ids=json_array(account_ids),
    )
    return {str(account_id): cast("str | None", owner_id) for account_id, owner_id in rows}


def connected_accounts(tx: ReadTx) -> list[Account]:
    rows = tx.all(f"select {_ACCOUNT} from mail_accounts where state <> 'disconnected' order by created_at, id")
    return [_account(row) for row in rows]


def pending_counts(tx: ReadTx, account_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Per account: local changes the provider has not confirmed, and messages passed over. Both tables stay small."""
    found: dict[str, tuple[int, int]] = {}
    for account_id in account_ids:
        waiting = tx.value("select count(*) from mail_mirror where account_id = :id", id=account_id)
        failed = tx.value("select count(*) from mail_ledger where account_id = :id", id=account_id)
        found[account_id] = (cast(int, waiting), cast(int, failed))
    return found


def failed_ids(tx: ReadTx, *, account_id: str) -> set[str]:
    """Messages that were passed over: not asked for again by themselves."""
    rows = tx.all("select provider_message_id from mail_ledger where account_id = :id", id=account_id)
    return {str(row[0]) for row in rows}


# Rows to records


def who(principal: Principal) -> dict[str, Value]:
    return {"everything": int(principal.sees_everything), "user_id": principal.user_id}


def _account(row: tuple[object, ...]) -> Account:
    return Account(
        id=cast(str, row[0]),
        owner_id=cast("str | None", row[1]),
        address=cast(str, row[2]),
        provider=cast(str, row[3]),
        state=cast(AccountState, row[4]),
        problem=cast("str | None", row[5]),
        cursor=cast("str | None", row[6]),
        sweep_no=cast(int, row[7]),
        sweep_cursor=cast("str | None", row[8]),
        sweep_page_token=cast("str | None", row[9]),
        sweep_started_at=cast("int | None", row[10]),
        progress_done=cast(int, row[11]),
        progress_total=cast("int | None", row[12]),
        messages=cast(int, row[13]),
        unread_threads=cast(int, row[14]),
        last_synced_at=cast("int | None", row[15]),
        unread_twins=cast(int, row[16]),
        cause=cast("Trouble | None", row[17]),
        provider_total=cast("int | None", row[18]),
        erasing=bool(row[19]),
        sender_name=cast("str | None", row[20]),
    )
