"""The procedures that read: a page of threads, and one thread."""

from __future__ import annotations

from functools import partial

from svc.mail.reading.reader import Reader
from svc.mail.reading.wire import ThreadDetailOut, ThreadInput
from svc.mail.threads import listing
from svc.mail.threads import wire as thread_wire
from svc.mail.threads.wire import ThreadsInput, ThreadsOut
from svc.principal import Principal
from svc.protocol import Procedure
from svc.store import ReadTx
from svc.workspace import RequestContext


async def threads(context: RequestContext, wanted: ThreadsInput) -> ThreadsOut:
    who = context.principal
    key = ("mail.threads", who.user_id, who.sees_everything, wanted)
    return await context.workspace.store.read_kept(key, partial(_threads, principal=who, wanted=wanted))


async def thread(context: RequestContext, wanted: ThreadInput) -> ThreadDetailOut:
    return await context.workspace.service(Reader).thread(context.principal, thread_id=wanted.id)


def _threads(tx: ReadTx, *, principal: Principal, wanted: ThreadsInput) -> ThreadsOut:
    found = listing.of(tx, principal, wanted)
    rows = found.page(tx, cursor=thread_wire.decode_cursor(wanted.cursor), limit=wanted.limit + 1)
    page = rows[: wanted.limit]
    return ThreadsOut(
        threads=thread_wire.thread_summaries(tx, page, principal),
        next_cursor=thread_wire.encode_cursor(page[-1], own_list=found.own_list) if len(rows) > wanted.limit else None,
    )


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.threads",
        kind="query",
        access="authenticated",
        input=ThreadsInput,
        output=ThreadsOut,
        call=threads,
        summary="A page of a section, of all mail or of a label, newest first, of one account or all, filtered or not.",
    ),
    Procedure(
        name="mail.thread",
        kind="query",
        access="authenticated",
        input=ThreadInput,
        output=ThreadDetailOut,
        call=thread,
        summary="A thread with its messages, their HTML sanitized.",
    ),
)
