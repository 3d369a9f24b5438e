"""``mail.unsubscribeOffer``, ``mail.unsubscribe`` and ``mail.unsubscribed``."""

from __future__ import annotations

from svc.clock import rfc3339
from svc.mail.unsubscribing import wire
from svc.mail.unsubscribing.unsubscriber import Unsubscriber
from svc.protocol import Procedure
from svc.workspace import RequestContext


async def offer(context: RequestContext, wanted: wire.UnsubscribeOfferInput) -> wire.UnsubscribeOfferOut:
    found = await context.workspace.service(Unsubscriber).offer(context.principal, message_id=wanted.message_id)
    return wire.UnsubscribeOfferOut(method=found.method, target=found.target)


async def unsubscribe(context: RequestContext, wanted: wire.UnsubscribeInput) -> wire.UnsubscribeOut:
    done = await context.workspace.service(Unsubscriber).take(
        context.principal, message_id=wanted.message_id, method=wanted.method
    )
    return wire.UnsubscribeOut(
        method=done.offer.method,
        url=done.offer.url if done.offer.method == "link" else None,
        outgoing_id=None if done.outgoing is None else done.outgoing.id,
    )


async def unsubscribed(context: RequestContext, wanted: wire.UnsubscribeOfferInput) -> wire.RememberedOut:
    found = await context.workspace.service(Unsubscriber).remembered(context.principal, message_id=wanted.message_id)
    if found is None:
        return wire.RememberedOut(unsubscribed=None)
    return wire.RememberedOut(
        unsubscribed=wire.UnsubscribedOut(
            method=found.method,
            target=found.target,
            outcome=found.outcome,
            detail=found.detail,
            at=rfc3339(found.at),
        )
    )


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.unsubscribeOffer",
        kind="query",
        access="authenticated",
        input=wire.UnsubscribeOfferInput,
        output=wire.UnsubscribeOfferOut,
        call=offer,
        summary="Which way out of a mailing a message offers, and who would be told. Nothing is done.",
    ),
    Procedure(
        name="mail.unsubscribe",
        kind="mutation",
        access="authenticated",
        input=wire.UnsubscribeInput,
        output=wire.UnsubscribeOut,
        call=unsubscribe,
        summary="Unsubscribe from a mailing: by the sender's one-click request, by a mail, or by a page to open.",
    ),
    Procedure(
        name="mail.unsubscribed",
        kind="query",
        access="authenticated",
        input=wire.UnsubscribeOfferInput,
        output=wire.RememberedOut,
        call=unsubscribed,
        summary="What came of unsubscribing from a message's mailing, if anybody did.",
    ),
)
