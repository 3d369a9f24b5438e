"""Actions of a principal on senders: block one in the principal's own accounts, unblock one, and undo either."""

from __future__ import annotations

from typing import Final

import msgspec

from svc import undo
from svc.errors import Conflict, Invalid, NotFound
from svc.mail.accounts import own_addresses
from svc.mail.accounts import queries as account_queries
from svc.mail.model import Account
from svc.mail.threads import blocks
from svc.mail.threads import queries as thread_queries
from svc.mail.threads.blocks import Block, BlockedTo
from svc.principal import Principal
from svc.reversal import Reversal, UndoStep
from svc.store import ReadTx, Tx

KIND: Final = "block"
MAX_BLOCKED: Final = 5_000
"""Senders that one person blocks. Beyond: 409 `conflict`."""


class Inverse(msgspec.Struct, frozen=True):
    """``to``: where mail of that address went before; ``None``: it was not blocked."""

    owner_id: str | None
    account_id: str | None
    address: str
    to: BlockedTo | None


def block_sender(
    tx: Tx, principal: Principal, *, message_id: str, to: BlockedTo, everywhere: bool, group: str | None = None
) -> str:
    """Block the sender of that message, in its account or in all accounts of its owner. Returns the address."""
    account, address = _sender(tx, principal, message_id)
    if _is_own(tx, principal, address):
        raise Invalid(f"{address} is an address of your own.")
    if len(blocks.blocked(tx, everything=False, user_id=account.owner_id, limit=MAX_BLOCKED)) == MAX_BLOCKED:
        raise Conflict(f"{MAX_BLOCKED} senders are blocked: as many as there can be. Unblock some in the settings.")
    account_id = None if everywhere else account.id
    _change(tx, principal, owner_id=account.owner_id, account_id=account_id, address=address, to=to, group=group)
    return address


def unblock_sender(tx: Tx, principal: Principal, *, block_id: int) -> None:
    block = next((one for one in blocked_senders(tx, principal) if one.id == block_id), None)
    if block is None:
        raise NotFound("Nobody is blocked by that.")
    _change(tx, principal, owner_id=block.owner_id, account_id=block.account_id, address=block.address, to=None)


def blocked_senders(tx: ReadTx, principal: Principal) -> list[Block]:
    return blocks.blocked(tx, everything=principal.sees_everything, user_id=principal.user_id, limit=MAX_BLOCKED)


def _change(
    tx: Tx,
    principal: Principal,
    *,
    owner_id: str | None,
    account_id: str | None,
    address: str,
    to: BlockedTo | None,
    group: str | None = None,
) -> None:
    known = blocks.block_of(tx, owner_id=owner_id, account_id=account_id, address=address)
    before = None if known is None else known.to
    if before == to:
        return
    blocks.put(tx, owner_id=owner_id, account_id=account_id, address=address, to=to)
    inverse = Inverse(owner_id=owner_id, account_id=account_id, address=address, to=before)
    what = "unblock" if to is None else "block"
    undo.record(tx, principal, kind=KIND, what=what, concerns=(), inverse=inverse, group=group)


def _sender(tx: ReadTx, principal: Principal, message_id: str) -> tuple[Account, str]:
    """The account and sender of a message. Raises :class:`Forbidden` if the account is only shared with the caller."""
    message = thread_queries.message_for(tx, principal, message_id=message_id)
    if message is None:
        raise NotFound("There is no such message.")
    account = account_queries.account_for(tx, principal, account_id=message.account_id)
    assert account is not None
    address = message.sender.address.casefold()
    if "@" not in address:
        raise Invalid("This message names no address that could be blocked.")
    return account, address


def _is_own(tx: ReadTx, principal: Principal, address: str) -> bool:
    """Whether it is an address of any of the principal's accounts, because a block may hold in all of them."""
    own = account_queries.own_accounts(tx, principal)
    return any(own_addresses.is_one(address, own_addresses.of_account(one)) for one in own)


def _take_back(tx: Tx, principal: Principal, undone: UndoStep) -> None:
    before = msgspec.json.decode(undone.inverse, type=Inverse)
    if before.account_id is not None and account_queries.account(tx, before.account_id) is None:
        return  # the account is gone, so no block can hold in it
    blocks.put(tx, owner_id=before.owner_id, account_id=before.account_id, address=before.address, to=before.to)


REVERSAL: Final = Reversal(kind=KIND, take_back=_take_back)
