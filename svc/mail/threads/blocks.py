"""Blocked senders: their new mail goes to spam or to the trash on arrival, here and at the provider.

The address in ``From`` decides, even if it is not authenticated: mail that uses a blocked name is not wanted either.
Mail that the account itself sent, and mail from a sync of the whole mailbox, stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, cast

from svc.clock import Millis
from svc.mail.accounts import own_addresses
from svc.mail.model import DRAFT, SENT, SPAM, TRASH, Account, Incoming
from svc.store import ReadTx, Tx, json_array

BlockedTo = Literal["spam", "trash"]

LABELS: Final = MappingProxyType[BlockedTo, str]({"spam": SPAM, "trash": TRASH})

_STAYS: Final = frozenset({SENT, DRAFT, SPAM, TRASH})


@dataclass(frozen=True, kw_only=True)
class Block:
    """A blocked address. ``account_id``: the account in which it is blocked; ``None``: in all accounts of its owner."""

    id: int
    owner_id: str | None
    account_id: str | None
    address: str
    to: BlockedTo
    since: Millis


def label_on_arrival(tx: ReadTx, account: Account, message: Incoming, *, labels: frozenset[str]) -> str | None:
    """The label for a message that has just arrived; ``None`` if none of its senders is blocked. A block for one
    account has priority over one for all accounts."""
    if labels & _STAYS:
        return None
    writers = {one.address.casefold() for one in (message.sender, *message.headers.senders)}
    own = own_addresses.of_account(account)
    found = tx.value(
        """
        select place from mail_blocked_senders
        where address in (select value from json_each(:addresses)) and owner_id is :owner_id
            and (account_id is null or account_id = :account_id)
        order by account_id is null, id limit 1
        """,
        addresses=json_array(sorted(one for one in writers if not own_addresses.is_one(one, own))),
        owner_id=account.owner_id,
        account_id=account.id,
    )
    return None if found is None else LABELS[cast(BlockedTo, found)]


def blocked(tx: ReadTx, *, everything: bool, user_id: str | None, limit: int) -> list[Block]:
    """The person's blocks, ordered by address."""
    rows = tx.all(
        """
        select id, owner_id, account_id, address, place, since from mail_blocked_senders
        where :everything or owner_id is :user_id order by address, account_id limit :limit
        """,
        everything=int(everything),
        user_id=user_id,
        limit=limit,
    )
    return [_block(row) for row in rows]


def block_of(tx: ReadTx, *, owner_id: str | None, account_id: str | None, address: str) -> Block | None:
    row = tx.one(
        """
        select id, owner_id, account_id, address, place, since from mail_blocked_senders
        where owner_id is :owner_id and account_id is :account_id and address = :address
        """,
        owner_id=owner_id,
        account_id=account_id,
        address=address,
    )
    return None if row is None else _block(row)


def put(tx: Tx, *, owner_id: str | None, account_id: str | None, address: str, to: BlockedTo | None) -> None:
    """Block the address there, or unblock it (``to`` is ``None``)."""
    known = block_of(tx, owner_id=owner_id, account_id=account_id, address=address)
    if known is not None:
        tx.run("delete from mail_blocked_senders where id = :id", id=known.id)
    if to is not None:
        tx.run(
            """
            insert into mail_blocked_senders (owner_id, account_id, address, place, since)
            values (:owner_id, :account_id, :address, :place, :since)
            """,
            owner_id=owner_id,
            account_id=account_id,
            address=address,
            place=to,
            since=tx.now if known is None else known.since,
        )


def claim(tx: Tx, user_id: str) -> None:
    """Blocks that were made before the instance was claimed become the first admin's."""
    tx.run("update mail_blocked_senders set owner_id = :user_id where owner_id is null", user_id=user_id)


def _block(row: tuple[object, ...]) -> Block:
    return Block(
        id=cast(int, row[0]),
        owner_id=cast("str | None", row[1]),
        account_id=cast("str | None", row[2]),
        address=cast(str, row[3]),
        to=cast(BlockedTo, row[4]),
        since=cast(int, row[5]),
    )
