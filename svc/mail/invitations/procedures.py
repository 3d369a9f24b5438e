"""``mail.invitation`` and ``mail.answerInvitation``."""

from __future__ import annotations

from svc.mail.invitations import wire
from svc.mail.invitations.answering import Invitations
from svc.mail.invitations.wire import AnswerInvitationInput, AnswerInvitationOut, InvitationInput, InvitationOut
from svc.protocol import Procedure
from svc.workspace import RequestContext


async def invitation(context: RequestContext, wanted: InvitationInput) -> InvitationOut | None:
    shown = await context.workspace.service(Invitations).view(context.principal, message_id=wanted.message_id)
    return None if shown is None else wire.invitation_out(shown)


async def answer(context: RequestContext, wanted: AnswerInvitationInput) -> AnswerInvitationOut:
    outgoing_id = await context.workspace.service(Invitations).answer(
        context.principal, message_id=wanted.message_id, answer=wanted.answer, comment=wanted.comment
    )
    return AnswerInvitationOut(outgoing_id=outgoing_id)


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.invitation",
        kind="query",
        access="authenticated",
        input=InvitationInput,
        output=InvitationOut | None,
        call=invitation,
        summary="The invitation in a message, what holds of it now and what it conflicts with, or null.",
    ),
    Procedure(
        name="mail.answerInvitation",
        kind="mutation",
        access="authenticated",
        input=AnswerInvitationInput,
        output=AnswerInvitationOut,
        call=answer,
        summary="Accept, decline or perhaps accept an invitation. The answer leaves like any mail.",
    ),
)
