"""The procedures of whole threads: open, mark unread, archive, unarchive."""

from __future__ import annotations

from svc.mail.labelling import inbox_actions
from svc.mail.labelling.carrying_on import done
from svc.mail.threads.wire import OpenInput, ThreadIdsInput
from svc.protocol import Nothing, Procedure
from svc.workspace import RequestContext


async def open_thread(context: RequestContext, wanted: OpenInput) -> Nothing:
    await context.workspace.store.write(inbox_actions.open_thread, context.principal, thread_id=wanted.thread_id)
    return done(context)


async def mark_unread(context: RequestContext, wanted: ThreadIdsInput) -> Nothing:
    await context.workspace.store.write(
        inbox_actions.mark_unread, context.principal, thread_ids=wanted.thread_ids, group=wanted.group
    )
    return done(context)


async def archive(context: RequestContext, wanted: ThreadIdsInput) -> Nothing:
    await context.workspace.store.write(
        inbox_actions.archive, context.principal, thread_ids=wanted.thread_ids, group=wanted.group
    )
    return done(context)


async def unarchive(context: RequestContext, wanted: ThreadIdsInput) -> Nothing:
    await context.workspace.store.write(
        inbox_actions.unarchive, context.principal, thread_ids=wanted.thread_ids, group=wanted.group
    )
    return done(context)


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.open",
        kind="mutation",
        access="authenticated",
        input=OpenInput,
        output=Nothing,
        call=open_thread,
        summary="Mark a thread read.",
    ),
    Procedure(
        name="mail.markUnread",
        kind="mutation",
        access="authenticated",
        input=ThreadIdsInput,
        output=Nothing,
        call=mark_unread,
        summary="Mark threads unread.",
    ),
    Procedure(
        name="mail.archive",
        kind="mutation",
        access="authenticated",
        input=ThreadIdsInput,
        output=Nothing,
        call=archive,
        summary="Move threads out of the inbox.",
    ),
    Procedure(
        name="mail.unarchive",
        kind="mutation",
        access="authenticated",
        input=ThreadIdsInput,
        output=Nothing,
        call=unarchive,
        summary="Move threads back into the inbox.",
    ),
)
