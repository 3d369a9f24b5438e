"""The procedures that read: a page of threads, and one thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from svc.errors import Invalid, NotFound
from svc.mail.accounts import queries as account_queries
from svc.mail.model import INBOX, OWN_LISTS, SECTIONS, OwnList, Section, ThreadRow, has_list
from svc.mail.reading.reader import Reader
from svc.mail.reading.wire import ThreadDetailOut, ThreadInput
from svc.mail.threads import filtered
from svc.mail.threads import queries as thread_queries
from svc.mail.threads import wire as thread_wire
from svc.mail.threads.label_queries import label_named, label_of
from svc.mail.threads.wire import ThreadsInput, ThreadsOut
from svc.principal import Principal
from svc.protocol import Procedure
from svc.store import ReadTx
from svc.workspace import RequestContext


async def threads(context: RequestContext, wanted: ThreadsInput) -> ThreadsOut:
    return await context.workspace.store.read(_threads, context.principal, wanted=wanted)


async def thread(context: RequestContext, wanted: ThreadInput) -> ThreadDetailOut:
    return await context.workspace.service(Reader).thread(context.principal, thread_id=wanted.id)


def _threads(tx: ReadTx, principal: Principal, *, wanted: ThreadsInput) -> ThreadsOut:
    account_ids = _account_ids(tx, principal, wanted.account_id)
    label_ids = _label_ids(tx, wanted, account_ids)
    own_list = _own_list(label_ids)
    rows = _page(tx, wanted, account_ids, label_ids=label_ids, own_list=own_list)
    page = rows[: wanted.limit]
    return ThreadsOut(
        threads=thread_wire.thread_summaries(tx, page, principal),
        next_cursor=thread_wire.encode_cursor(page[-1], own_list=own_list) if len(rows) > wanted.limit else None,
    )


def _page(
    tx: ReadTx,
    wanted: ThreadsInput,
    account_ids: Sequence[str],
    *,
    label_ids: Mapping[str, str] | None,
    own_list: OwnList | None,
) -> list[ThreadRow]:
    """One row more than asked for, if there is one."""
    cursor, limit = thread_wire.decode_cursor(wanted.cursor), wanted.limit + 1
    sections = _sections(wanted, label_ids)
    found = list(account_ids if label_ids is None else label_ids)
    if wanted.only is not None:
        return filtered.threads(
            tx,
            lists=_filtered_lists(found, label_ids, sections=sections, own_list=own_list),
            only=wanted.only,
            cursor=cursor,
            limit=limit,
            own_list=own_list,
            leading=bool(sections),
        )
    if sections:
        return thread_queries.threads(tx, account_ids=found, sections=sections, cursor=cursor, limit=limit)
    assert label_ids is not None
    if own_list is not None:
        return thread_queries.threads_written(tx, account_ids=found, own_list=own_list, cursor=cursor, limit=limit)
    return thread_queries.threads_by_label(tx, label_ids=label_ids, cursor=cursor, limit=limit)


def _sections(wanted: ThreadsInput, label_ids: Mapping[str, str] | None) -> tuple[Section, ...]:
    """Those that are wanted, by name or by label; none for any other list."""
    if label_ids is None:
        if wanted.section is None:
            raise Invalid("Which threads are wanted? Name a section or a label.")
        return SECTIONS if wanted.section == "all" else (wanted.section,)
    if set(label_ids.values()) == {INBOX}:
        return ("inbox",)
    if not all(map(has_list, label_ids.values())):
        raise Invalid("Threads are not listed by this label.")
    return ()


def _filtered_lists(
    account_ids: Sequence[str],
    label_ids: Mapping[str, str] | None,
    *,
    sections: Sequence[Section],
    own_list: OwnList | None,
) -> list[dict[str, filtered.ListName]]:
    if sections:
        return [dict.fromkeys(account_ids, filtered.section_list(section)) for section in sections]
    if own_list is not None:
        return [dict.fromkeys(account_ids, filtered.own_list_name(own_list))]
    return [{account_id: filtered.label_list_name(label_id) for account_id, label_id in (label_ids or {}).items()}]


def _own_list(label_ids: Mapping[str, str] | None) -> OwnList | None:
    """Sent and Drafts are the provider's own labels, with the same id everywhere."""
    ids = set(label_ids.values()) if label_ids else set()
    return OWN_LISTS.get(ids.pop()) if len(ids) == 1 else None


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
        return [account.id for account in account_queries.accounts(tx, principal)]
    if account_queries.account_for(tx, principal, account_id=account_id, to="read") is None:
        raise NotFound("There is no such account.")
    return [account_id]


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
