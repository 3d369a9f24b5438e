"""The ``mail.*`` procedures. Each decodes nothing and decides nothing: it hands typed input to a query or an action."""

from __future__ import annotations

from collections.abc import Sequence

from svc.errors import NotFound
from svc.mail import actions, queries, wire
from svc.mail.engine import MailEngine
from svc.mail.wire import (
    AccountOut,
    OpenInput,
    ThreadDetailOut,
    ThreadIdsInput,
    ThreadInput,
    ThreadsInput,
    ThreadsOut,
)
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure
from svc.store import ReadTx
from svc.workspace import Call


async def accounts(call: Call, wanted: Nothing) -> list[AccountOut]:
    return await call.workspace.store.read(_accounts, call.principal)


async def threads(call: Call, wanted: ThreadsInput) -> ThreadsOut:
    return await call.workspace.store.read(_threads, call.principal, wanted=wanted)


async def thread(call: Call, wanted: ThreadInput) -> ThreadDetailOut:
    return await _engine(call).reader.thread(call.principal, thread_id=wanted.id)


async def open_thread(call: Call, wanted: OpenInput) -> Nothing:
    await call.workspace.store.write(actions.open_thread, call.principal, thread_id=wanted.thread_id)
    return _mirrored(call)


async def mark_unread(call: Call, wanted: ThreadIdsInput) -> Nothing:
    await call.workspace.store.write(actions.mark_unread, call.principal, thread_ids=wanted.thread_ids)
    return _mirrored(call)


async def archive(call: Call, wanted: ThreadIdsInput) -> Nothing:
    await call.workspace.store.write(actions.archive, call.principal, thread_ids=wanted.thread_ids)
    return _mirrored(call)


async def unarchive(call: Call, wanted: ThreadIdsInput) -> Nothing:
    await call.workspace.store.write(actions.unarchive, call.principal, thread_ids=wanted.thread_ids)
    return _mirrored(call)


def _accounts(tx: ReadTx, principal: Principal) -> list[AccountOut]:
    return [wire.account_summary(tx, account) for account in queries.accounts(tx, principal)]


def _threads(tx: ReadTx, principal: Principal, *, wanted: ThreadsInput) -> ThreadsOut:
    rows = queries.threads(
        tx,
        account_ids=_account_ids(tx, principal, wanted.account_id),
        section=wanted.section,
        cursor=wire.decode_cursor(wanted.cursor),
        limit=wanted.limit + 1,
    )
    page = rows[: wanted.limit]
    return ThreadsOut(
        threads=wire.thread_summaries(tx, page),
        next_cursor=wire.encode_cursor(page[-1]) if len(rows) > wanted.limit else None,
    )


def _account_ids(tx: ReadTx, principal: Principal, account_id: str | None) -> Sequence[str]:
    if account_id is None:
        return [account.id for account in queries.accounts(tx, principal)]
    if queries.account_for(tx, principal, account_id=account_id) is None:
        raise NotFound("There is no such account.")
    return [account_id]


def _engine(call: Call) -> MailEngine:
    return call.workspace.service(MailEngine)


def _mirrored(call: Call) -> Nothing:
    """The change is committed; the loops that take it to the provider are told that there is work."""
    _engine(call).wake_mirrors()
    return NOTHING


PROCEDURES: tuple[Procedure[Call], ...] = (
    Procedure(
        name="mail.accounts",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[AccountOut],
        call=accounts,
        summary="The caller's mail accounts with their sync state and unread badge.",
    ),
    Procedure(
        name="mail.threads",
        kind="query",
        access="authenticated",
        input=ThreadsInput,
        output=ThreadsOut,
        call=threads,
        summary="A page of one section, newest first, of one account or of all.",
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
