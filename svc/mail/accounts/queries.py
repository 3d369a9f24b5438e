"""Queries that read the mail accounts, and the number of their failed messages.

Reads for a person check ownership and sharing in their ``where`` (``access.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, cast

from svc.mail.accounts.access import MAY_SEE, READABLE, Access, access_of, allows, refuse, who
from svc.mail.model import (
    Account,
    AccountState,
    Trouble,
)
from svc.mail.providers.kinds import KEPT_HERE
from svc.principal import Principal
from svc.store import ReadTx, json_array, texts_of

_ACCOUNT: Final = """
    id, owner_id, address, provider, state, problem, cursor, sweep_no, sweep_cursor, sweep_page_token,
    sweep_started_at, progress_done, progress_total, messages, unread_threads, last_synced_at,
    unread_twins, cause, provider_total, erasing, sender_name,
    (
        select json_group_array(address) from (
            select o.address from mail_own_addresses o
            where o.account_id = mail_accounts.id and o.confirmed order by o.address
        )
    )
"""

_PENDING: Final = """
    select (select count(*) from mail_mirror where account_id = :id),
        (select count(*) from mail_ledger where account_id = :id)
"""

# Accounts


def accounts(tx: ReadTx, principal: Principal) -> list[Account]:
    """The accounts that the caller may read: their own, then those that others share with them; each oldest first."""
    rows = tx.all(
        f"""
        select {_ACCOUNT} from mail_accounts where {MAY_SEE}
        order by not (:everything or owner_id is :user_id), created_at, id
        """,
        **who(principal),
    )
    return [_account(row) for row in rows]


def account_ids(tx: ReadTx, principal: Principal) -> list[str]:
    """The ids of the accounts that the caller may read, in no order."""
    return [str(one) for (one,) in tx.all(f"select id from mail_accounts where {MAY_SEE}", **who(principal))]


def own_accounts(tx: ReadTx, principal: Principal) -> list[Account]:
    """The caller's own accounts, oldest first."""
    return [one for one in accounts(tx, principal) if access_of(tx, principal, one) == "own"]


def account_for(tx: ReadTx, principal: Principal, *, account_id: str, to: Access = "own") -> Account | None:
    """The account, if the caller has the access ``to`` to it. Raises :class:`Forbidden` if they may only see it, and
    returns ``None`` if they may not even see it."""
    row = tx.one(f"select {_ACCOUNT} from mail_accounts where id = :id and {MAY_SEE}", id=account_id, **who(principal))
    if row is None:
        return None
    account = _account(row)
    if not allows(access_of(tx, principal, account), to):
        raise refuse(to)
    return account


def account(tx: ReadTx, account_id: str) -> Account | None:
    """For the service's own loops: without a check of permissions."""
    row = tx.one(f"select {_ACCOUNT} from mail_accounts where id = :id", id=account_id)
    return None if row is None else _account(row)


def connected_account(tx: ReadTx, account_id: str) -> Account | None:
    """The account if it is not disconnected. For code that writes what the provider reports: nothing is written once
    the account is disconnected."""
    found = account(tx, account_id)
    return None if found is None or found.state == "disconnected" else found


def account_by_address(tx: ReadTx, address: str) -> Account | None:
    """The account of this address, or the one that is kept here under this name; without regard to case."""
    wanted = address.lower()
    row = tx.one(f"select {_ACCOUNT} from mail_accounts where address = :address", address=wanted)
    if row is not None:
        return _account(row)
    kept = map(_account, tx.all(f"select {_ACCOUNT} from mail_accounts where provider = :here", here=KEPT_HERE))
    return next((one for one in kept if one.address.lower() == wanted), None)


def addresses_of(tx: ReadTx, *, owner_id: str | None) -> frozenset[str]:
    """The addresses of all accounts of one owner, with their aliases, in lower case; of accounts that are only here the
    names, as they were typed.
    """
    rows = tx.all(
        """
        select address from mail_accounts where owner_id is :owner_id
        union all select o.address from mail_own_addresses o join mail_accounts a on a.id = o.account_id
        where a.owner_id is :owner_id and o.confirmed
        """,
        owner_id=owner_id,
    )
    return frozenset(str(address) for (address,) in rows)


def owners_of(tx: ReadTx, *, account_ids: Iterable[str]) -> dict[str, str | None]:
    """Maps each of these accounts to its owner's id."""
    rows = tx.all(
        "select id, owner_id from mail_accounts where id in (select value from json_each(:ids))",
        ids=json_array(account_ids),
    )
    return {str(account_id): cast("str | None", owner_id) for account_id, owner_id in rows}


def owner_name(tx: ReadTx, account: Account) -> str:
    """The name of the account's owner."""
    return name_of(tx, account.owner_id)


def name_of(tx: ReadTx, user_id: str | None) -> str:
    """A person's name, or their address if they have given none."""
    return cast(str, tx.value("select coalesce(nullif(name, ''), email) from users where id = :id", id=user_id) or "")


def shared_count(tx: ReadTx, account_id: str) -> int:
    """The number of people with whom the account is shared."""
    return cast(int, tx.value("select count(*) from mail_shares where account_id = :id", id=account_id))


def members(tx: ReadTx, account_id: str) -> list[str]:
    """The people with whom the account is shared, by user id."""
    rows = tx.all("select user_id from mail_shares where account_id = :id order by user_id", id=account_id)
    return [cast(str, user_id) for (user_id,) in rows]


def connected_accounts(tx: ReadTx) -> list[Account]:
    rows = tx.all(f"select {_ACCOUNT} from mail_accounts where state <> 'disconnected' order by created_at, id")
    return [_account(row) for row in rows]


def pending_counts(tx: ReadTx, account_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Per account: the local changes that the provider has not confirmed, and the skipped messages. Both tables are
    small."""
    found: dict[str, tuple[int, int]] = {}
    for account_id in account_ids:
        found[account_id] = cast("tuple[int, int]", tx.one(_PENDING, id=account_id))
    return found


def unread_duplicates_for(tx: ReadTx, viewer: Principal, account_id: str) -> int:
    """How many of an account's unread threads Unified shows to this member under another account. Each member sees
    other accounts, so no column can count it; an index has the few threads that are concerned."""
    return cast(
        int,
        tx.value(
            f"""
            select count(*) from mail_threads t
            where t.account_id = :account_id and t.twins is not null and t.in_inbox > 0 and t.unread > 0
                and exists (
                    select 1 from mail_threads o where o.twins = t.twins and o.account_id in {READABLE}
                        and (not o.leads, o.account_id, o.id) < (not t.leads, t.account_id, t.id)
                )
            """,
            account_id=account_id,
            **who(viewer),
        ),
    )


def failed_ids(tx: ReadTx, *, account_id: str) -> set[str]:
    """The skipped messages: sync does not fetch them again automatically."""
    rows = tx.all("select provider_message_id from mail_ledger where account_id = :id", id=account_id)
    return {str(row[0]) for row in rows}


# Rows to records


def _account(row: tuple[object, ...]) -> Account:
    return Account(
        id=cast(str, row[0]),
        owner_id=cast("str | None", row[1]),
        address=cast(str, row[2]),
        provider=cast(str, row[3]),
        state=cast(AccountState, row[4]),
        problem=cast("str | None", row[5]),
        cursor=cast("str | None", row[6]),
        full_sync_no=cast(int, row[7]),
        full_sync_cursor=cast("str | None", row[8]),
        full_sync_page_token=cast("str | None", row[9]),
        full_sync_started_at=cast("int | None", row[10]),
        progress_done=cast(int, row[11]),
        progress_total=cast("int | None", row[12]),
        messages=cast(int, row[13]),
        unread_threads=cast(int, row[14]),
        last_synced_at=cast("int | None", row[15]),
        unread_duplicates=cast(int, row[16]),
        cause=cast("Trouble | None", row[17]),
        provider_total=cast("int | None", row[18]),
        erasing=bool(row[19]),
        sender_name=cast("str | None", row[20]),
        aliases=texts_of(cast(str, row[21])),
    )
