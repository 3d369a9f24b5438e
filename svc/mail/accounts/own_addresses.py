"""An account's own addresses: mail to one of them is mail to the person, and mail may be sent from it.

They are the account's main address, those that its provider reports as sending addresses, and those that its owner adds
by hand. An address that is not confirmed at the provider yet is only shown; it is not used for anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Literal, cast

from svc.formats.person import Person
from svc.mail.model import Account
from svc.store import ReadTx

Source = Literal["account", "provider", "person"]


@dataclass(frozen=True, kw_only=True)
class OwnAddress:
    """``name``: the name in ``From`` with this address; empty for the account's name."""

    address: str
    name: str
    source: Source
    confirmed: bool
    is_default: bool


def addresses(tx: ReadTx, account: Account) -> tuple[OwnAddress, ...]:
    """The account's main address first, then the others in alphabetical order; exactly one is the default."""
    rows = tx.all(
        """
        select address, name, source, confirmed from mail_own_addresses
        where account_id = :id order by address
        """,
        id=account.id,
    )
    default = default_of(tx, account) if rows else account.address
    own = (account.address, account.sender_name or "", "account", 1)
    return tuple(
        OwnAddress(
            address=cast(str, address),
            name=cast(str, name),
            source=cast(Source, source),
            confirmed=bool(confirmed),
            is_default=address == default,
        )
        for address, name, source, confirmed in (own, *rows)
    )


def default_of(tx: ReadTx, account: Account) -> str:
    """The address of new mail: the owner's choice, else the provider's default, else the account's main address."""
    chosen = cast("str | None", tx.value("select default_address from mail_accounts where id = :id", id=account.id))
    if chosen is not None and chosen in sendable(account):
        return chosen
    told = tx.value(
        "select address from mail_own_addresses where account_id = :id and told_default and confirmed limit 1",
        id=account.id,
    )
    return cast("str | None", told) or account.address


def name_of(tx: ReadTx, *, account_id: str, address: str) -> str:
    """The name in ``From`` with this address; empty for the account's name."""
    found = tx.value(
        "select name from mail_own_addresses where account_id = :id and address = :address",
        id=account_id,
        address=address.lower(),
    )
    return cast("str | None", found) or ""


def sendable(account: Account) -> tuple[str, ...]:
    """The addresses that the account may send from, in lower case."""
    return (account.address, *account.aliases)


def sent_to(account: Account, reached: Iterable[str]) -> str | None:
    """The account's address that matches the first matching one of ``reached``, with or without its tag: a reply is
    sent from it."""
    able = {plain(account.address): account.address, **{one: one for one in sendable(account)}}
    spelled = (one for address in reached for one in (address.lower(), plain(address)))
    return next((able[one] for one in spelled if one in able), None)


def of_account(account: Account) -> frozenset[str]:
    """The account's addresses in the form for :func:`is_one`."""
    return frozenset({plain(account.address), *sendable(account)})


def is_one(address: str, own: Set[str]) -> bool:
    """Whether ``address`` is one of ``own``, or one of them with a tag."""
    return address.lower() in own or plain(address) in own


def plain(address: str) -> str:
    """The address in lower case and without the tag (``mia+shop@…``), which its owner invents."""
    local, _, domain = address.lower().rpartition("@")
    tagless = local.partition("+")[0]
    return f"{tagless or local}@{domain}"


def names_one(people: Iterable[Person], own: Set[str]) -> bool:
    return any(is_one(one.address, own) for one in people)
