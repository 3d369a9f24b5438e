"""The ``mail.*`` procedures. Each decodes nothing and decides nothing: it hands typed input to a query or an action."""

from __future__ import annotations

from collections.abc import Sequence

from svc.errors import Invalid, NotFound
from svc.mail import actions, queries, wire
from svc.mail.engine import MailEngine
from svc.mail.labelling.queries import label_named, label_of
from svc.mail.model import INBOX, ThreadRow, has_list
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
    found = await call.workspace.store.read(_accounts, call.principal)
    return [_engine(call).with_trouble(account) for account in found]


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
    rows = _page(tx, wanted, _account_ids(tx, principal, wanted.account_id))
    page = rows[: wanted.limit]
    return ThreadsOut(
        threads=wire.thread_summaries(tx, page),
        next_cursor=wire.encode_cursor(page[-1]) if len(rows) > wanted.limit else None,
    )


def _page(tx: ReadTx, wanted: ThreadsInput, account_ids: Sequence[str]) -> list[ThreadRow]:
    """One row more than asked for, if there is one."""
    cursor, limit = wire.decode_cursor(wanted.cursor), wanted.limit + 1
    label_ids = _label_ids(tx, wanted, account_ids)
    if label_ids is None:
        if wanted.section is None:
            raise Invalid("Which threads are wanted? Name a section or a label.")
        return queries.threads(tx, account_ids=account_ids, section=wanted.section, cursor=cursor, limit=limit)
    if set(label_ids.values()) == {INBOX}:
        return queries.threads(tx, account_ids=list(label_ids), section="inbox", cursor=cursor, limit=limit)
    if not all(map(has_list, label_ids.values())):
        raise Invalid("Threads are not listed by this label.")
    return queries.threads_by_label(tx, label_ids=label_ids, cursor=cursor, limit=limit)


def _label_ids(tx: ReadTx, wanted: ThreadsInput, account_ids: Sequence[str]) -> dict[str, str] | None:
    """The wanted label's id in each account that has it; ``None`` when no label is wanted."""
    if wanted.label_id is not None:
        if wanted.account_id is None:
            raise Invalid("A label's id means something only together with its account's.")
        if label_of(tx, wanted.account_id, wanted.label_id) is None:
            raise NotFound("There is no such label.")
        return {wanted.account_id: wanted.label_id}
    if wanted.label_name is None:
        return None
    found = ((account_id, label_named(tx, account_id, wanted.label_name)) for account_id in account_ids)
    return {account_id: label.id for account_id, label in found if label is not None}


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
        summary="A page of one section or one label, newest first, of one account or of all.",
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
