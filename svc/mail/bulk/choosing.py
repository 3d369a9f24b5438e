"""Selects all threads that match a list, a search or a sender now: reads them in one view of the database, and stores
them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from svc.errors import NotFound
from svc.mail.accounts import access
from svc.mail.accounts import queries as account_queries
from svc.mail.bulk import actions
from svc.mail.bulk.model import MAX_CHOSEN, Chosen, ChosenThread
from svc.mail.bulk.wire import SelectAllInput, SelectedOut
from svc.mail.labelling.queries import snoozed_ids
from svc.mail.model import ThreadRow
from svc.mail.search.procedures import Search
from svc.mail.search.wire import SearchInput
from svc.mail.threads import filtered, listing
from svc.mail.threads import queries as thread_queries
from svc.mail.threads.queries import Cursor
from svc.principal import Principal
from svc.store import ReadTx, Store

PAGE: Final = 1_000


@dataclass(frozen=True, kw_only=True)
class Chooser:
    store: Store
    search: Search

    async def choose(self, principal: Principal, wanted: SelectAllInput) -> SelectedOut:
        chosen = await self._find(principal, wanted)
        step_id = await self.store.write(actions.begin_choice, principal)
        for first in range(0, max(1, len(chosen.threads)), actions.CHOSEN_A_TIME):
            part = chosen.threads[first : first + actions.CHOSEN_A_TIME]
            last = first + len(part) == len(chosen.threads)
            await self.store.write(actions.choose, step_id=step_id, threads=part, first=first, last=last)
        return SelectedOut(
            id=step_id,
            count=sum(one.counted for one in chosen.threads),
            complete=chosen.complete,
            account_ids=chosen.account_ids,
            left_out=chosen.left_out,
        )

    async def _find(self, principal: Principal, wanted: SelectAllInput) -> Chosen:
        if wanted.sender is not None:
            return await self.store.read(_by_sender, principal, wanted=wanted, sender=wanted.sender.casefold())
        if wanted.snoozed:
            return await self.store.read(_snoozed, principal, wanted=wanted)
        if wanted.query is None:
            return await self.store.read(_listed, principal, wanted=wanted)
        asked = SearchInput(query=wanted.query, account_id=wanted.account_id, time_zone=wanted.time_zone)
        found = await self.search.everything(principal, asked, most=MAX_CHOSEN)
        return await self.store.read(
            _found, principal, wanted=wanted, thread_ids=found.thread_ids, complete=found.complete
        )


def _listed(tx: ReadTx, principal: Principal, *, wanted: SelectAllInput) -> Chosen:
    """All threads of a list, of one account or of all accounts together."""
    acting, left_out = _accounts(tx, principal, wanted.account_id)
    found = listing.among(tx, wanted, acting)
    rows: list[ThreadRow] = []
    cursor: Cursor | None = None
    while len(rows) <= MAX_CHOSEN:
        page = found.page(tx, cursor=cursor, limit=PAGE)
        rows += page
        if len(page) < PAGE:
            break
        cursor = Cursor(at=page[-1].at(found.own_list), id=page[-1].id)
    return _chosen(tx, rows, acting, duplicates=wanted.account_id is None, left_out=left_out)


def _found(
    tx: ReadTx, principal: Principal, *, wanted: SelectAllInput, thread_ids: Sequence[str], complete: bool
) -> Chosen:
    acting, left_out = _accounts(tx, principal, wanted.account_id)
    rows = _rows(tx, thread_ids, acting)
    return _chosen(tx, rows, acting, duplicates=wanted.account_id is None, left_out=left_out, complete=complete)


def _snoozed(tx: ReadTx, principal: Principal, *, wanted: SelectAllInput) -> Chosen:
    """The snoozed threads. Where several accounts hold the same mail, only the thread that the list shows."""
    acting, left_out = _accounts(tx, principal, wanted.account_id)
    rows = list(_rows(tx, snoozed_ids(tx, account_ids=acting, limit=MAX_CHOSEN + 1), acting))
    if wanted.account_id is None:
        rows = _leading(tx, rows, acting)
    if wanted.only is not None:
        rows = [row for row in rows if filtered.passes(row, wanted.only)]
    return _chosen(tx, rows, acting, duplicates=wanted.account_id is None, left_out=left_out)


def _leading(tx: ReadTx, rows: Sequence[ThreadRow], acting: Collection[str]) -> list[ThreadRow]:
    groups = thread_queries.duplicates_of(tx, {row.duplicate_group for row in rows if row.duplicate_group is not None})
    leaders = {
        group: next((thread_id for account_id, thread_id in members if account_id in acting), None)
        for group, members in groups.items()
    }
    return [row for row in rows if row.duplicate_group is None or leaders[row.duplicate_group] == row.id]


def _by_sender(tx: ReadTx, principal: Principal, *, wanted: SelectAllInput, sender: str) -> Chosen:
    """Threads with mail from a sender, only in the caller's own accounts, each account for itself: a person blocks
    senders only in their own accounts."""
    acting, _ = _accounts(tx, principal, wanted.account_id)
    own = {one.id for one in account_queries.own_accounts(tx, principal)}
    acting = [one for one in acting if one in own]
    rows = _rows(tx, thread_queries.threads_from(tx, account_ids=acting, sender=sender), own)
    return _chosen(tx, rows, acting, duplicates=False, left_out=False)


def _rows(tx: ReadTx, thread_ids: Iterable[str], account_ids: Collection[str]) -> Iterator[ThreadRow]:
    rows = (thread_queries.thread(tx, thread_id) for thread_id in thread_ids)
    return (row for row in rows if row is not None and row.account_id in account_ids)


def _chosen(
    tx: ReadTx,
    rows: Iterable[ThreadRow],
    acting: Sequence[str],
    *,
    duplicates: bool,
    left_out: bool,
    complete: bool = True,
) -> Chosen:
    """The threads to store: with each listed thread also those with the same mail in other accounts."""
    listed = list(rows)
    some = listed[:MAX_CHOSEN]
    chosen = {row.id: _thread(row, counted=True) for row in some}
    groups = {row.duplicate_group for row in some if row.duplicate_group is not None} if duplicates else set()
    for group in thread_queries.duplicates_of(tx, groups).values() if groups else ():
        for account_id, thread_id in group:
            if account_id in acting and thread_id not in chosen:
                row = thread_queries.thread(tx, thread_id)
                if row is not None:
                    chosen[thread_id] = _thread(row, counted=False)
    return Chosen(
        threads=list(chosen.values()),
        account_ids=tuple(sorted({row.account_id for row in some})),
        complete=complete and len(listed) <= MAX_CHOSEN,
        left_out=left_out,
    )


def _thread(row: ThreadRow, *, counted: bool) -> ChosenThread:
    return ChosenThread(
        thread_id=row.id,
        messages=row.messages - row.drafts,
        last_message_at=row.last_message_at,
        counted=counted,
    )


def _accounts(tx: ReadTx, principal: Principal, account_id: str | None) -> tuple[list[str], bool]:
    """The accounts in which the caller may act, and whether there are others that they may only read."""
    if account_id is not None:
        if account_queries.account_for(tx, principal, account_id=account_id, to="act") is None:
            raise NotFound("There is no such account.")
        return [account_id], False
    seen = account_queries.accounts(tx, principal)
    acting = [one.id for one in seen if access.allows(access.access_of(tx, principal, one), "act")]
    return acting, len(acting) < len(seen)
