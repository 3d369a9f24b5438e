"""The inputs and outputs of the procedures of blocking."""

from __future__ import annotations

from svc.clock import rfc3339
from svc.mail.threads.blocks import Block, BlockedTo
from svc.mail.wire import Id
from svc.protocol.rows import Wire


class BlockSenderInput(Wire, frozen=True):
    """``message_id``: a message of the sender. ``everywhere``: block in all accounts of its owner, not only in its own.
    ``group`` as in :class:`svc.mail.threads.wire.ThreadIdsInput`."""

    message_id: Id
    to: BlockedTo = "trash"
    everywhere: bool = True
    group: Id | None = None


class BlockedOut(Wire, frozen=True):
    address: str


class UnblockSenderInput(Wire, frozen=True):
    id: Id


class BlockedSenderOut(Wire, frozen=True):
    """``account_id``: the account in which the block holds; without one it holds in all accounts."""

    id: str
    address: str
    account_id: str | None
    to: BlockedTo
    since: str


def blocked_sender(block: Block) -> BlockedSenderOut:
    return BlockedSenderOut(
        id=str(block.id),
        address=block.address,
        account_id=block.account_id,
        to=block.to,
        since=rfc3339(block.since),
    )
