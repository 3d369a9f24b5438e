"""``mail.blockSender``, ``mail.unblockSender`` and ``mail.blockedSenders``."""

from __future__ import annotations

from svc.errors import NotFound
from svc.mail.blocking import actions, wire
from svc.mail.blocking.wire import BlockedOut, BlockedSenderOut, BlockSenderInput, UnblockSenderInput
from svc.protocol import NOTHING, Nothing, Procedure
from svc.workspace import RequestContext


async def block_sender(context: RequestContext, wanted: BlockSenderInput) -> BlockedOut:
    address = await context.workspace.store.write(
        actions.block_sender,
        context.principal,
        message_id=wanted.message_id,
        to=wanted.to,
        everywhere=wanted.everywhere,
        group=wanted.group,
    )
    return BlockedOut(address=address)


async def unblock_sender(context: RequestContext, wanted: UnblockSenderInput) -> Nothing:
    if not wanted.id.isdecimal() or len(wanted.id) > len(str(2**62)):
        raise NotFound("Nobody is blocked by that.")
    await context.workspace.store.write(actions.unblock_sender, context.principal, block_id=int(wanted.id))
    return NOTHING


async def blocked_senders(context: RequestContext, wanted: Nothing) -> list[BlockedSenderOut]:
    found = await context.workspace.store.read(actions.blocked_senders, context.principal)
    return [wire.blocked_sender(block) for block in found]


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.blockSender",
        kind="mutation",
        access="authenticated",
        input=BlockSenderInput,
        output=BlockedOut,
        call=block_sender,
        summary="Send what the sender of a message writes from now on to the trash, or to spam, as it arrives.",
    ),
    Procedure(
        name="mail.unblockSender",
        kind="mutation",
        access="authenticated",
        input=UnblockSenderInput,
        output=Nothing,
        call=unblock_sender,
        summary="Let mail of a blocked sender come to the inbox again.",
    ),
    Procedure(
        name="mail.blockedSenders",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[BlockedSenderOut],
        call=blocked_senders,
        summary="The senders that the caller blocked.",
    ),
)
