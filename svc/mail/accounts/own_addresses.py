"""Which addresses are an account's own: mail to one of them is mail to the person, and mail may be written from it.

They are the account's own address, those that its provider tells it sends from, and those that its owner adds by hand.
One that the provider still waits for a word about (unconfirmed) is nobody's yet: it is shown, and counts for nothing.
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
    """``name``: what ``From`` says beside it, empty for what it says of the account."""

    address: str
    name: str
    source: Source
    confirmed: bool
    is_default: bool


def addresses(tx: ReadTx, account: Account) -> tuple[OwnAddress, ...]:
    """The account's own first, then the others by their spelling; exactly one is the default."""
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
    """The address of new mail: as the owner said, else as the provider does, else the account's own."""
    chosen = cast("str | None", tx.value("select default_address from mail_accounts where id = :id", id=account.id))
    if chosen is not None and chosen in sendable(account):
        return chosen
    told = tx.value(
        "select address from mail_own_addresses where account_id = :id and told_default and confirmed limit 1",
        id=account.id,
    )
    return cast("str | None", told) or account.address


def name_of(tx: ReadTx, *, account_id: str, address: str) -> str:
    """What ``From`` says beside this address; empty where it says what it says of the account."""
    found = tx.value(
        "select name from mail_own_addresses where account_id = :id and address = :address",
        id=account_id,
        address=address.lower(),
    )
    return cast("str | None", found) or ""


def sendable(account: Account) -> tuple[str, ...]:
    """What its mail may be from, in lower case."""
    return (account.address, *account.aliases)


def sent_to(account: Account, reached: Iterable[str]) -> str | None:
    """The account's address that the first of these is, tags aside: where an answer comes from."""
    able = {plain(account.address): account.address, **{one: one for one in sendable(account)}}
    spelled = (one for address in reached for one in (address.lower(), plain(address)))
    return next((able[one] for one in spelled if one in able), None)


def of_account(account: Account) -> frozenset[str]:
    """As :func:`is_one` reads them."""
    return frozenset({plain(account.address), *sendable(account)})


def is_one(address: str, own: Set[str]) -> bool:
    """Whether it is one of these, or one of them with a tag."""
    return address.lower() in own or plain(address) in own


def plain(address: str) -> str:
    """In lower case and without the tag (``mia+shop@…``), which the one who has the address makes up."""
    local, _, domain = address.lower().rpartition("@")
    tagless = local.partition("+")[0]
    return f"{tagless or local}@{domain}"


def names_one(people: Iterable[Person], own: Set[str]) -> bool:
    return any(is_one(one.address, own) for one in people)
