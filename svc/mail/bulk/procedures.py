"""The procedures of bulk steps: select, act, stop, and list the steps that are working."""

from __future__ import annotations

from svc.mail.bulk import actions, queries, wire
from svc.mail.bulk.choosing import Chooser
from svc.mail.bulk.feature import go_on
from svc.mail.bulk.model import BulkAct
from svc.mail.bulk.wire import ActOnAllInput, BulkInput, BulkOut, SelectAllInput, SelectedOut
from svc.mail.labelling.wire import millis
from svc.protocol import Nothing, Procedure
from svc.workspace import RequestContext


async def select_all(context: RequestContext, wanted: SelectAllInput) -> SelectedOut:
    return await context.workspace.service(Chooser).choose(context.principal, wanted)


async def act_on_all(context: RequestContext, wanted: ActOnAllInput) -> BulkOut:
    act = BulkAct(
        do=wanted.do,
        label=wanted.label,
        until=None if wanted.until is None else millis(wanted.until),
        sender=None if wanted.sender is None else wanted.sender.casefold(),
    )
    step = await context.workspace.store.write(
        actions.start, context.principal, step_id=wanted.id, act=act, group=wanted.group
    )
    go_on(context.workspace)
    return wire.bulk_out(step)


async def stop_acting(context: RequestContext, wanted: BulkInput) -> BulkOut:
    return wire.bulk_out(await context.workspace.store.write(actions.stop, context.principal, step_id=wanted.id))


async def acting(context: RequestContext, wanted: Nothing) -> list[BulkOut]:
    found = await context.workspace.store.read(queries.at_work, context.principal)
    return [wire.bulk_out(step) for step in found]


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.selectAll",
        kind="mutation",
        access="authenticated",
        input=SelectAllInput,
        output=SelectedOut,
        call=select_all,
        summary="Select all threads that match a list, a search or a sender, as they are now, and count them.",
    ),
    Procedure(
        name="mail.actOnAll",
        kind="mutation",
        access="authenticated",
        input=ActOnAllInput,
        output=BulkOut,
        call=act_on_all,
        summary="Do one thing with all that was selected, as one step; a large one goes on in the background.",
    ),
    Procedure(
        name="mail.stopActing",
        kind="mutation",
        access="authenticated",
        input=BulkInput,
        output=BulkOut,
        call=stop_acting,
        summary="Stop a step that is at work; what it has done stays, and can be taken back.",
    ),
    Procedure(
        name="mail.acting",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[BulkOut],
        call=acting,
        summary="The caller's steps on all that match that are still at work.",
    ),
)
