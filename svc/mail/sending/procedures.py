"""The procedures of sending: each decodes its input, calls an action, and wakes the delivery or the draft copier."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

from svc import idempotency
from svc.clock import Millis
from svc.errors import NotFound
from svc.files import files_of
from svc.mail.sending import actions, drafts, queries, wire
from svc.mail.sending.draft_copying import DraftCopier
from svc.mail.sending.model import Outgoing, SendRequest, draft_origin
from svc.mail.sending.preparing import Preparer
from svc.mail.sending.rebuilding import Rebuilder
from svc.mail.sending.taking_up import TakingUp
from svc.mail.sending.tasks import Delivery
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure
from svc.protocol.rows import ProcedureKind
from svc.store import ReadTx, Tx
from svc.workspace import RequestContext

LOOK_FIRST_S: Final = 15.0
"""How long the mailbox is searched for an uncertain mail before it is sent again as the person asked."""


async def send(context: RequestContext, wanted: wire.SendInput) -> wire.SendOut:
    """Answers once the mail is accepted. Without an undo pause it answers once the outcome is known, or after a
    minute."""
    delivery = _delivery(context)
    accepted = await idempotency.write(
        context,
        "mail.send",
        wanted,
        wire.SendOut,
        _accepted,
        context.principal,
        request=wire.send_request_of(wanted),
        send_at=wire.millis(wanted.send_at),
        draft_id=wanted.draft_id,
        draft_version=wanted.draft_version,
        hold_ms=delivery.hold_ms,
        group=wanted.group,
    )
    delivery.look()
    _copier(context).look()
    if accepted.state == "scheduled" and accepted.send_at is None:
        await delivery.finish(wanted.account_id)
        return await context.workspace.store.read(_came_of, context.principal, accepted)
    return accepted


async def outgoing(context: RequestContext, wanted: Nothing) -> list[wire.OutgoingOut]:
    untold = _delivery(context).untold
    rows = await context.workspace.store.read(queries.listed, context.principal)
    return [
        wire.outgoing_out(replace(row, last_error=untold[row.id]) if row.id in untold and row.is_waiting else row)
        for row in rows
    ]


async def cancel_send(context: RequestContext, wanted: wire.OutgoingInput) -> Nothing:
    await context.workspace.store.write(actions.cancel, context.principal, outgoing_id=wanted.id)
    _copier(context).look()
    return NOTHING


async def outgoing_draft(context: RequestContext, wanted: wire.OutgoingInput) -> wire.OutgoingDraftOut:
    row = await context.workspace.store.read(_own, context.principal, outgoing_id=wanted.id)
    if row.restored_draft_id is None:
        return wire.OutgoingDraftOut(draft_id=None)
    draft = await context.workspace.store.read(queries.draft_for, context.principal, draft_id=row.restored_draft_id)
    return wire.OutgoingDraftOut(draft_id=None if draft is None else draft.id)


async def reschedule(context: RequestContext, wanted: wire.RescheduleInput) -> Nothing:
    send_at = wire.millis(wanted.send_at)
    assert send_at is not None
    await context.workspace.store.write(actions.reschedule, context.principal, outgoing_id=wanted.id, send_at=send_at)
    _delivery(context).look()
    return NOTHING


async def retry_send(context: RequestContext, wanted: wire.OutgoingInput) -> Nothing:
    """An uncertain mail is searched for in the mailbox first. If it is found it was sent, and is not sent again."""
    row = await context.workspace.store.read(_own, context.principal, outgoing_id=wanted.id)
    if row.state == "uncertain" and await _delivery(context).was_sent(row, within_s=LOOK_FIRST_S):
        return NOTHING
    await context.workspace.store.write(actions.retry, context.principal, outgoing_id=wanted.id)
    _delivery(context).look()
    return NOTHING


async def dismiss_outgoing(context: RequestContext, wanted: wire.DismissInput) -> wire.OutgoingDraftOut:
    draft_id = await context.workspace.store.write(
        actions.dismiss, context.principal, outgoing_id=wanted.id, keep_draft=wanted.draft
    )
    _copier(context).look()
    return wire.OutgoingDraftOut(draft_id=draft_id)


async def list_drafts(context: RequestContext, wanted: Nothing) -> list[wire.DraftRowOut]:
    return [
        wire.draft_row_out(draft) for draft in await context.workspace.store.read(queries.drafts, context.principal)
    ]


async def draft(context: RequestContext, wanted: wire.DraftInput) -> wire.DraftOut:
    return await context.workspace.store.read(_draft, context.principal, draft_id=wanted.id)


async def save_draft(context: RequestContext, wanted: wire.SaveDraftInput) -> wire.DraftSavedOut:
    saved = await idempotency.write(
        context,
        "mail.saveDraft",
        wanted,
        wire.DraftSavedOut,
        _saved,
        context.principal,
        draft_id=wanted.id,
        version=wanted.version,
        request=wire.send_request_of(wanted),
    )
    _copier(context).look()
    return saved


def _saved(
    tx: Tx, principal: Principal, *, draft_id: str | None, version: int | None, request: SendRequest
) -> wire.DraftSavedOut:
    draft = drafts.save(tx, principal, draft_id=draft_id, version=version, request=request)
    return wire.DraftSavedOut(id=draft.id, version=draft.version)


async def delete_draft(context: RequestContext, wanted: wire.DraftInput) -> Nothing:
    await context.workspace.store.write(drafts.delete, context.principal, draft_id=wanted.id)
    _copier(context).look()
    return NOTHING


async def take_up_draft(context: RequestContext, wanted: wire.TakeUpDraftInput) -> wire.TakenUpOut:
    draft_id = await context.workspace.service(TakingUp).take_up(context.principal, wanted.message_id)
    return wire.TakenUpOut(draft_id=draft_id)


async def signature(context: RequestContext, wanted: wire.SignatureInput) -> wire.SignatureOut:
    return await context.workspace.store.read(_signature, context.principal, account_id=wanted.account_id)


async def set_signature(context: RequestContext, wanted: wire.SetSignatureInput) -> Nothing:
    """Stores the sanitized HTML only, so that the compose window and the sent mail never get anything else."""
    clean = await context.workspace.service(Rebuilder).own(wanted.html)
    await context.workspace.store.write(
        drafts.set_signature, context.principal, account_id=wanted.account_id, html=clean.html
    )
    return NOTHING


async def prepare(context: RequestContext, wanted: wire.PrepareInput) -> wire.PreparedOut:
    return await context.workspace.service(Preparer).prepare(context.principal, wanted)


def _accepted(
    tx: Tx,
    principal: Principal,
    *,
    request: SendRequest,
    send_at: Millis | None,
    draft_id: str | None,
    draft_version: int | None,
    hold_ms: int,
    group: str | None,
) -> wire.SendOut:
    row = actions.accept(
        tx,
        principal,
        request=request,
        send_at=send_at,
        draft_id=draft_id,
        draft_version=draft_version,
        hold_ms=hold_ms,
        group=group,
    )
    return wire.sent_out(row)


def _came_of(tx: ReadTx, principal: Principal, accepted: wire.SendOut) -> wire.SendOut:
    """The mail's state now. A repeated request may arrive long after the mail's row was deleted: then the first answer
    is returned."""
    row = queries.outgoing_for(tx, principal, outgoing_id=accepted.outgoing_id)
    return accepted if row is None else wire.sent_out(row)


def _own(tx: ReadTx, principal: Principal, *, outgoing_id: str) -> Outgoing:
    row = queries.outgoing_for(tx, principal, outgoing_id=outgoing_id)
    if row is None:
        raise NotFound(actions.MISSING)
    return row


def _draft(tx: ReadTx, principal: Principal, *, draft_id: str) -> wire.DraftOut:
    found = queries.draft_for(tx, principal, draft_id=draft_id)
    if found is None:
        raise NotFound(drafts.NO_DRAFT)
    files = {file.id: file for file in files_of(tx, origin=draft_origin(draft_id))}
    attached = (
        wire.AttachedOut(file_id=file.id, filename=file.name, mime=file.mime, size=file.size)
        for file in (files[file_id] for file_id in found.attachments if file_id in files)
    )
    return wire.draft_out(found, tuple(attached))


def _signature(tx: ReadTx, principal: Principal, *, account_id: str) -> wire.SignatureOut:
    account = drafts.account_of(tx, principal, account_id)
    return wire.SignatureOut(html=queries.signature(tx, account.id))


def _delivery(context: RequestContext) -> Delivery:
    return context.workspace.service(Delivery)


def _copier(context: RequestContext) -> DraftCopier:
    return context.workspace.service(DraftCopier)


def _row(
    name: str,
    kind: ProcedureKind,
    input: type,
    output: object,
    context: Callable[[RequestContext, Any], Awaitable[object]],  # the edge: takes what `input` decodes to
    summary: str,
) -> Procedure[RequestContext]:
    """A procedure for any signed-in user, who reaches only their own mail."""
    return Procedure(
        name=f"mail.{name}",
        kind=kind,
        access="authenticated",
        input=input,
        output=output,
        call=context,
        summary=summary,
    )


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    _row("send", "mutation", wire.SendInput, wire.SendOut, send, "Send a mail, now or at a time."),
    _row("outgoing", "query", Nothing, list[wire.OutgoingOut], outgoing, "Mail on its way, and what became of it."),
    _row("cancelSend", "mutation", wire.OutgoingInput, Nothing, cancel_send, "Hold back a mail that has not left."),
    _row(
        "outgoingDraft",
        "query",
        wire.OutgoingInput,
        wire.OutgoingDraftOut,
        outgoing_draft,
        "The draft that a cancelled mail became again.",
    ),
    _row("reschedule", "mutation", wire.RescheduleInput, Nothing, reschedule, "Send a waiting mail at another time."),
    _row(
        "retrySend",
        "mutation",
        wire.OutgoingInput,
        Nothing,
        retry_send,
        "Send a mail that failed, is late, or may not have been sent.",
    ),
    _row(
        "dismissOutgoing",
        "mutation",
        wire.DismissInput,
        wire.OutgoingDraftOut,
        dismiss_outgoing,
        "Put away a mail that goes nowhere any more, or make a draft of it.",
    ),
    _row("drafts", "query", Nothing, list[wire.DraftRowOut], list_drafts, "The caller's drafts, newest first."),
    _row("draft", "query", wire.DraftInput, wire.DraftOut, draft, "One draft, whole."),
    _row("saveDraft", "mutation", wire.SaveDraftInput, wire.DraftSavedOut, save_draft, "Keep what is written so far."),
    _row("deleteDraft", "mutation", wire.DraftInput, Nothing, delete_draft, "Throw a draft away."),
    _row(
        "takeUpDraft",
        "mutation",
        wire.TakeUpDraftInput,
        wire.TakenUpOut,
        take_up_draft,
        "Continue a draft that another program began: it becomes one of the caller's, the same one each time.",
    ),
    _row("signature", "query", wire.SignatureInput, wire.SignatureOut, signature, "An account's signature."),
    _row("setSignature", "mutation", wire.SetSignatureInput, Nothing, set_signature, "Set an account's signature."),
    _row(
        "prepare",
        "query",
        wire.PrepareInput,
        wire.PreparedOut,
        prepare,
        "What a reply, a reply to all or a forward begins with.",
    ),
)
