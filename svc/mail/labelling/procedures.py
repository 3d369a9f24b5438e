"""The procedures of labelling: typed input to an action, and word to those who carry it on."""

from __future__ import annotations

from collections.abc import Sequence

from svc.errors import Conflict, Invalid, NotFound, Unavailable
from svc.mail import queries as mail_queries
from svc.mail.engine import MailEngine
from svc.mail.labelling import actions, queries, reversals, wire
from svc.mail.labelling.tasks import SNOOZE_JOB
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
from svc.mail.provider import GrantLost, ProviderFault, Refused
from svc.mail.text import clean_line
from svc.mail.wire import ThreadIdsInput, shown_name
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure
from svc.scheduler import Scheduler
from svc.store import ReadTx
from svc.workspace import Call


async def set_labels(call: Call, wanted: SetLabelsInput) -> Nothing:
    await call.workspace.store.write(
        actions.set_labels,
        call.principal,
        thread_ids=wanted.thread_ids,
        add=frozenset(wanted.add),
        remove=frozenset(wanted.remove),
    )
    return _carry_on(call)


async def labels(call: Call, wanted: LabelsInput) -> list[AccountLabelOut]:
    return await call.workspace.store.read(_labels, call.principal, account_id=wanted.account_id)


async def create_label(call: Call, wanted: CreateLabelInput) -> CreatedLabelOut:
    """Waits for the provider, who gives the id. A name that exists gives the label that has it."""
    name = _label_name(wanted.name)
    known = await call.workspace.store.read(_label, call.principal, account_id=wanted.account_id, name=name)
    if known is not None:
        return CreatedLabelOut(id=known.id, name=known.name)
    try:
        made = await call.workspace.service(MailEngine).make_label(wanted.account_id, name, color=wanted.color)
    except Refused as fault:
        raise Invalid(f"The provider does not take this label. {fault.detail}") from fault
    except GrantLost as fault:
        raise Conflict(fault.detail) from fault
    except ProviderFault as fault:
        raise Unavailable(fault.detail) from fault
    return CreatedLabelOut(id=made.id, name=made.name)


async def snooze(call: Call, wanted: SnoozeInput) -> Nothing:
    until = wire.millis(wanted.until)
    await call.workspace.store.write(actions.snooze, call.principal, thread_ids=wanted.thread_ids, until=until)
    return _carry_on(call)


async def unsnooze(call: Call, wanted: ThreadIdsInput) -> Nothing:
    await call.workspace.store.write(actions.unsnooze, call.principal, thread_ids=wanted.thread_ids)
    return _carry_on(call)


async def snoozed(call: Call, wanted: Nothing) -> list[SnoozedOut]:
    return await call.workspace.store.read(wire.snoozed_out, call.principal)


async def undo(call: Call, wanted: Nothing) -> UndoOut:
    taken_back = await call.workspace.store.write(reversals.take_back, call.principal)
    _carry_on(call)
    return wire.undo_out(taken_back)


async def undoable(call: Call, wanted: Nothing) -> list[UndoableOut]:
    return [wire.undoable_out(row) for row in await call.workspace.store.read(reversals.undoable, call.principal)]


def _labels(tx: ReadTx, principal: Principal, *, account_id: str | None) -> list[AccountLabelOut]:
    account_ids: Sequence[str] = (
        [account_id] if account_id else [one.id for one in mail_queries.accounts(tx, principal)]
    )
    if account_id and mail_queries.account_for(tx, principal, account_id=account_id) is None:
        raise NotFound("There is no such account.")
    return [wire.account_label(owner, label) for owner, label in queries.labels_of(tx, account_ids)]


def _label(tx: ReadTx, principal: Principal, *, account_id: str, name: str) -> Label | None:
    """The label of that name, which somebody made."""
    account = mail_queries.account_for(tx, principal, account_id=account_id)
    if account is None:
        raise NotFound("There is no such account.")
    if account.state == "disconnected":
        raise Conflict(f"{account.address} is disconnected. Connect it again to make a label there.")
    label = queries.label_named(tx, account_id, name)
    if label is not None and label.system:
        raise Invalid(f"{shown_name(label)} is a label of the provider's own.")
    return label


def _label_name(name: str) -> str:
    """One line, and something between all slashes, as providers want it."""
    parts = [clean_line(part) for part in name.split("/")]
    if not all(parts):
        raise Invalid("A label needs a name, and so does each part of a nested one.")
    return "/".join(parts)


def _carry_on(call: Call) -> Nothing:
    """The change is committed: who takes it to the provider is told, and who waits for the next snooze to end."""
    call.workspace.service(MailEngine).wake_mirrors()
    call.workspace.service(Scheduler).nudge(SNOOZE_JOB)
    return NOTHING


PROCEDURES: tuple[Procedure[Call], ...] = (
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
        call=undo,
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
