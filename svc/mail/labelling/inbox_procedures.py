"""The procedures for whole threads: open, mark unread (or from one message on), archive, unarchive, mute, unmute."""

from __future__ import annotations

from svc.mail.labelling import inbox_actions
from svc.mail.labelling.carrying_on import act
from svc.mail.threads.wire import FromMessageInput, OpenInput, ThreadIdsInput
from svc.protocol import Nothing, Procedure
from svc.workspace import RequestContext


async def open_thread(context: RequestContext, wanted: OpenInput) -> Nothing:
    return await act(context, "mail.open", wanted, inbox_actions.open_thread, thread_id=wanted.thread_id)


async def mark_unread(context: RequestContext, wanted: ThreadIdsInput) -> Nothing:
    return await act(
        context, "mail.markUnread", wanted, inbox_actions.mark_unread, thread_ids=wanted.thread_ids, group=wanted.group
    )


async def mark_unread_from(context: RequestContext, wanted: FromMessageInput) -> Nothing:
    return await act(
        context, "mail.markUnreadFrom", wanted, inbox_actions.mark_unread_from, message_id=wanted.message_id
    )


async def archive(context: RequestContext, wanted: ThreadIdsInput) -> Nothing:
    return await act(
        context, "mail.archive", wanted, inbox_actions.archive, thread_ids=wanted.thread_ids, group=wanted.group
    )


async def unarchive(context: RequestContext, wanted: ThreadIdsInput) -> Nothing:
    return await act(
        context, "mail.unarchive", wanted, inbox_actions.unarchive, thread_ids=wanted.thread_ids, group=wanted.group
    )


async def mute(context: RequestContext, wanted: ThreadIdsInput) -> Nothing:
    return await act(context, "mail.mute", wanted, inbox_actions.mute, thread_ids=wanted.thread_ids, group=wanted.group)


async def unmute(context: RequestContext, wanted: ThreadIdsInput) -> Nothing:
    return await act(
        context, "mail.unmute", wanted, inbox_actions.unmute, thread_ids=wanted.thread_ids, group=wanted.group
    )


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
        name="mail.markUnreadFrom",
        kind="mutation",
        access="authenticated",
        input=FromMessageInput,
        output=Nothing,
        call=mark_unread_from,
        summary="Mark a message unread, and those of its thread that came after it.",
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
    Procedure(
        name="mail.mute",
        kind="mutation",
        access="authenticated",
        input=ThreadIdsInput,
        output=Nothing,
        call=mute,
        summary="Move threads out of the inbox, and keep their new messages out of it.",
    ),
    Procedure(
        name="mail.unmute",
        kind="mutation",
        access="authenticated",
        input=ThreadIdsInput,
        output=Nothing,
        call=unmute,
        summary="Let new messages of threads reach the inbox again.",
    ),
)
