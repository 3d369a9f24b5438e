"""The procedures of labelling: each calls an action with typed input, and wakes the loops that go on with it."""

from __future__ import annotations

from collections.abc import Sequence

from svc import undo
from svc.errors import Conflict, Invalid, NotFound, Unavailable
from svc.formats.text import clean_line
from svc.mail.accounts import queries as account_queries
from svc.mail.labelling import actions, wire
from svc.mail.labelling.carrying_on import act
from svc.mail.labelling.wire import (
    AccountLabelOut,
    CreatedLabelOut,
    CreateLabelInput,
    LabelsInput,
    SetLabelsInput,
    SnoozedOut,
    SnoozeInput,
    UndoableOut,
    UndoOut,
)
from svc.mail.model import Label
from svc.mail.providers.seam import GrantLost, ProviderFault, Refused
from svc.mail.sync.engine import MailEngine
from svc.mail.threads import label_queries
from svc.mail.threads.wire import ThreadIdsInput, shown_name
from svc.principal import Principal
from svc.protocol import Nothing, Procedure
from svc.store import ReadTx
from svc.workspace import RequestContext


async def set_labels(context: RequestContext, wanted: SetLabelsInput) -> Nothing:
    return await act(
        context,
        "mail.setLabels",
        wanted,
        actions.set_labels,
        thread_ids=wanted.thread_ids,
        add=frozenset(wanted.add),
        remove=frozenset(wanted.remove),
        names=actions.Names(add=frozenset(wanted.add_names), remove=frozenset(wanted.remove_names)),
        group=wanted.group,
    )


async def labels(context: RequestContext, wanted: LabelsInput) -> list[AccountLabelOut]:
    return await context.workspace.store.read(_labels, context.principal, account_id=wanted.account_id)


async def create_label(context: RequestContext, wanted: CreateLabelInput) -> CreatedLabelOut:
    """Make a label. Waits for the provider, which gives the id. Where the name exists, returns that label."""
    name = _label_name(wanted.name)
    known = await context.workspace.store.read(_label, context.principal, account_id=wanted.account_id, name=name)
    if known is not None:
        return CreatedLabelOut(id=known.id, name=known.name)
    try:
        made = await context.workspace.service(MailEngine).make_label(wanted.account_id, name, color=wanted.color)
    except Refused as fault:
        raise Invalid(f"The provider does not take this label. {fault.detail}") from fault
    except GrantLost as fault:
        raise Conflict(fault.detail) from fault
    except ProviderFault as fault:
        raise Unavailable(fault.detail) from fault
    return CreatedLabelOut(id=made.id, name=made.name)


async def snooze(context: RequestContext, wanted: SnoozeInput) -> Nothing:
    until = wire.millis(wanted.until)
    return await act(
        context, "mail.snooze", wanted, actions.snooze, thread_ids=wanted.thread_ids, until=until, group=wanted.group
    )


async def unsnooze(context: RequestContext, wanted: ThreadIdsInput) -> Nothing:
    return await act(
        context, "mail.unsnooze", wanted, actions.unsnooze, thread_ids=wanted.thread_ids, group=wanted.group
    )


async def snoozed(context: RequestContext, wanted: Nothing) -> list[SnoozedOut]:
    return await context.workspace.store.read(wire.snoozed_out, context.principal)


async def take_back(context: RequestContext, wanted: Nothing) -> UndoOut:
    reversals = undo.reversals_of(context.workspace)
    taken_back = await context.workspace.store.write(undo.take_back, context.principal, reversals=reversals)
    if taken_back is not None:
        undo.carry_on(context.workspace, taken_back)
    return wire.undo_out(taken_back)


async def undoable(context: RequestContext, wanted: Nothing) -> list[UndoableOut]:
    reversals = undo.reversals_of(context.workspace)
    found = await context.workspace.store.read(undo.undoable, context.principal, reversals=reversals)
    return [wire.undoable_out(step) for step in found]


def _labels(tx: ReadTx, principal: Principal, *, account_id: str | None) -> list[AccountLabelOut]:
    account_ids: Sequence[str] = (
        [account_id] if account_id else [one.id for one in account_queries.accounts(tx, principal)]
    )
    if account_id and account_queries.account_for(tx, principal, account_id=account_id, to="read") is None:
        raise NotFound("There is no such account.")
    return [wire.account_label(owner, label) for owner, label in label_queries.labels_of(tx, account_ids)]


def _label(tx: ReadTx, principal: Principal, *, account_id: str, name: str) -> Label | None:
    """The label with that name; ``None`` where there is none. Raises ``Invalid`` for a system label."""
    account = account_queries.account_for(tx, principal, account_id=account_id, to="act")
    if account is None:
        raise NotFound("There is no such account.")
    if account.state == "disconnected":
        raise Conflict(f"{account.address} is disconnected. Connect it again to make a label there.")
    label = label_queries.label_named(tx, account_id, name)
    if label is not None and label.system:
        raise Invalid(f"{shown_name(label)} is a label of the provider's own.")
    return label


def _label_name(name: str) -> str:
    """The name on one line. Every part between slashes must have text, because providers want this."""
    parts = [clean_line(part) for part in name.split("/")]
    if not all(parts):
        raise Invalid("A label needs a name, and so does each part of a nested one.")
    return "/".join(parts)


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.setLabels",
        kind="mutation",
        access="authenticated",
        input=SetLabelsInput,
        output=Nothing,
        call=set_labels,
        summary="Add labels to threads and take others away: a star, spam, trash, labels of one's own.",
    ),
    Procedure(
        name="mail.labels",
        kind="query",
        access="authenticated",
        input=LabelsInput,
        output=list[AccountLabelOut],
        call=labels,
        summary="The labels of one account or of all.",
    ),
    Procedure(
        name="mail.createLabel",
        kind="mutation",
        access="authenticated",
        input=CreateLabelInput,
        output=CreatedLabelOut,
        call=create_label,
        summary="Make a label at the provider, or find the one of that name.",
    ),
    Procedure(
        name="mail.snooze",
        kind="mutation",
        access="authenticated",
        input=SnoozeInput,
        output=Nothing,
        call=snooze,
        summary="Take threads out of the inbox until a time.",
    ),
    Procedure(
        name="mail.unsnooze",
        kind="mutation",
        access="authenticated",
        input=ThreadIdsInput,
        output=Nothing,
        call=unsnooze,
        summary="Bring snoozed threads back now.",
    ),
    Procedure(
        name="mail.snoozed",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[SnoozedOut],
        call=snoozed,
        summary="The snoozed threads, the next to come back first.",
    ),
    Procedure(
        name="mail.undo",
        kind="mutation",
        access="authenticated",
        input=Nothing,
        output=UndoOut,
        call=take_back,
        summary="Take back the caller's newest step that can be taken back.",
    ),
    Procedure(
        name="mail.undoable",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[UndoableOut],
        call=undoable,
        summary="The caller's steps that can be taken back, newest first.",
    ),
)
