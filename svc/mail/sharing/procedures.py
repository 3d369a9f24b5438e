"""The procedures of sharing: list the people with whom an account is shared, share it, and end that."""

from __future__ import annotations

from svc.clock import rfc3339
from svc.mail.accounts.wire import ShareInput, ShareOut, SharesInput, UnshareInput
from svc.mail.sharing import actions
from svc.protocol import NOTHING, Nothing, Procedure
from svc.workspace import RequestContext


async def share(context: RequestContext, wanted: ShareInput) -> Nothing:
    await context.workspace.store.write(
        actions.share,
        context.principal,
        account_id=wanted.account_id,
        user_id=wanted.user_id,
        access=wanted.access,
    )
    return NOTHING


async def unshare(context: RequestContext, wanted: UnshareInput) -> Nothing:
    await context.workspace.store.write(
        actions.unshare, context.principal, account_id=wanted.account_id, user_id=wanted.user_id
    )
    return NOTHING


async def shares(context: RequestContext, wanted: SharesInput) -> list[ShareOut]:
    found = await context.workspace.store.read(actions.shares, context.principal, account_id=wanted.account_id)
    return [
        ShareOut(
            user_id=one.user_id,
            name=one.name,
            address=one.address,
            access=one.access,
            since=rfc3339(one.since),
        )
        for one in found
    ]


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.shareAccount",
        kind="mutation",
        access="authenticated",
        input=ShareInput,
        output=Nothing,
        call=share,
        summary="Let somebody read one of the caller's own accounts, or act in it.",
    ),
    Procedure(
        name="mail.unshareAccount",
        kind="mutation",
        access="authenticated",
        input=UnshareInput,
        output=Nothing,
        call=unshare,
        summary="Share an account with somebody no more; a member may leave by it.",
    ),
    Procedure(
        name="mail.accountShares",
        kind="query",
        access="authenticated",
        input=SharesInput,
        output=list[ShareOut],
        call=shares,
        summary="With whom one of the caller's own accounts is shared.",
    ),
)
