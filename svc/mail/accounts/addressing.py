"""Changes of an account's own addresses: its owner adds, names and removes them and chooses the default, and the
provider reports those that it sends from.

Owns the table ``mail_own_addresses``, and the column ``default_address`` of ``mail_accounts``. The provider's report
never changes what a person has entered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.errors import Conflict, Invalid, NotFound
from svc.formats.text import clean_line
from svc.formats.writing import sendable_address
from svc.mail.accounts import news as account_news
from svc.mail.accounts import own_addresses
from svc.mail.accounts import queries as account_queries
from svc.mail.accounts.sender_names import MAX_SENDER_NAME_CHARS, checked_name, note_sender_name
from svc.mail.model import DEVICE_ID, Account
from svc.mail.providers.seam import SendingAddress
from svc.principal import Principal
from svc.store import Tx

MAX_BY_HAND: Final = 50
"""Sending addresses of an account that are added by hand. Beyond: 409 `conflict`."""
MAX_TOLD: Final = 200
"""Sending addresses that a provider reports. Beyond: further ones are ignored."""


def set_address(tx: Tx, principal: Principal, *, account_id: str, address: str, name: str) -> None:
    """Add an address by hand, or change the name of one that was added by hand."""
    account = _own(tx, principal, account_id)
    address = sendable_address(address.strip()).lower()
    name = checked_name(name)
    if address == account.address:
        raise Conflict("This is the account’s own address. Its name is set beside it.")
    known = {one.address: one for one in own_addresses.addresses(tx, account)}
    found = known.get(address)
    if found is not None and found.source == "provider":
        raise Conflict(f"{address} is known at the account’s provider already. Its name is set there.")
    if found is None and sum(one.source == "person" for one in known.values()) >= MAX_BY_HAND:
        raise Conflict(f"There are {MAX_BY_HAND} addresses already. Remove one first.")
    _write(tx, account_id, address=address, name=name, source="person", confirmed=True, told_default=False)
    account_news.emit_account(tx, account_id, device_id=principal.device_id)


def remove_address(tx: Tx, principal: Principal, *, account_id: str, address: str) -> None:
    """Remove an address that was added by hand."""
    account = _own(tx, principal, account_id)
    found = _address(tx, account, address)
    if found.source != "person":
        raise Conflict(f"{found.address} is not one that was added here, so it can’t be removed here.")
    _delete(tx, account_id, found.address)
    account_news.emit_account(tx, account_id, device_id=principal.device_id)


def set_default(tx: Tx, principal: Principal, *, account_id: str, address: str) -> None:
    """Make this the address of new mail from the account, unless the writer chooses another."""
    account = _own(tx, principal, account_id)
    found = _address(tx, account, address)
    if not found.confirmed:
        raise Conflict(f"{found.address} is not confirmed at the account’s provider yet.")
    tx.run("update mail_accounts set default_address = :address where id = :id", address=found.address, id=account_id)
    account_news.emit_account(tx, account_id, device_id=principal.device_id)


def note_told(tx: Tx, *, account_id: str, told: Sequence[SendingAddress]) -> None:
    """Store the addresses that the provider reports for this account, and the person's name at the provider."""
    account = account_queries.connected_account(tx, account_id)
    if account is None:
        return
    names = [one.name for one in sorted(told, key=lambda one: not one.own) if one.own or one.default]
    note_sender_name(tx, account_id=account_id, name=next(filter(None, names), ""))
    before = own_addresses.addresses(tx, account)
    by_hand = {one.address for one in before if one.source != "provider"}
    wanted = {one.address.lower(): one for one in told[:MAX_TOLD] if _is_usable(one) and not one.own}
    for one in before:
        if one.source == "provider" and one.address not in wanted:
            _delete(tx, account_id, one.address)
    for address, sending in wanted.items():
        if address not in by_hand:
            name = clean_line(sending.name)
            _write(
                tx,
                account_id,
                address=address,
                name=name if len(name) <= MAX_SENDER_NAME_CHARS else "",
                source="provider",
                confirmed=sending.confirmed,
                told_default=sending.default,
            )
    after = account_queries.account(tx, account_id)
    if after is not None and own_addresses.addresses(tx, after) != before:
        account_news.emit_account(tx, account_id, device_id=DEVICE_ID)


# The parts


def _own(tx: Tx, principal: Principal, account_id: str) -> Account:
    account = account_queries.account_for(tx, principal, account_id=account_id)
    if account is None:
        raise NotFound("There is no such account.")
    return account


def _address(tx: Tx, account: Account, address: str) -> own_addresses.OwnAddress:
    for one in own_addresses.addresses(tx, account):
        if one.address == address.lower():
            return one
    raise NotFound("This is no address of the account.")


def _is_usable(one: SendingAddress) -> bool:
    try:
        return sendable_address(one.address) == one.address
    except Invalid:
        return False


def _delete(tx: Tx, account_id: str, address: str) -> None:
    tx.run(
        "delete from mail_own_addresses where account_id = :id and address = :address", id=account_id, address=address
    )


def _write(
    tx: Tx, account_id: str, *, address: str, name: str, source: str, confirmed: bool, told_default: bool
) -> None:
    tx.run(
        """
        insert into mail_own_addresses (account_id, address, name, source, confirmed, told_default)
        values (:account_id, :address, :name, :source, :confirmed, :told_default)
        on conflict do update set name = :name, source = :source, confirmed = :confirmed, told_default = :told_default
        """,
        account_id=account_id,
        address=address,
        name=name,
        source=source,
        confirmed=int(confirmed),
        told_default=int(told_default),
    )
