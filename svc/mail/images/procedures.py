"""``mail.trustSender`` and ``mail.trustedSenders``."""

from __future__ import annotations

from svc.mail.images import actions, queries, wire
from svc.mail.images.wire import TrustedSenderOut, TrustSenderInput
from svc.protocol import NOTHING, Nothing, Procedure
from svc.workspace import RequestContext


async def trust_sender(context: RequestContext, wanted: TrustSenderInput) -> Nothing:
    await context.workspace.store.write(
        actions.trust_sender, context.principal, address=wanted.address, trusted=wanted.trusted
    )
    return NOTHING


async def trusted_senders(context: RequestContext, wanted: Nothing) -> list[TrustedSenderOut]:
    senders = await context.workspace.store.read(queries.trusted_senders, context.principal)
    return [wire.trusted_sender(sender) for sender in senders]


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.trustSender",
        kind="mutation",
        access="authenticated",
        input=TrustSenderInput,
        output=Nothing,
        call=trust_sender,
        summary="Show a sender's remote images without asking, or ask again.",
    ),
    Procedure(
        name="mail.trustedSenders",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[TrustedSenderOut],
        call=trusted_senders,
        summary="The senders whose remote images are shown without asking.",
    ),
)
