"""``mail.search``: decides which accounts the caller may search, searches, and adds the matching passages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Concatenate, Final, ParamSpec, TypeVar
from zoneinfo import ZoneInfo

import trio

from svc.clock import Millis
from svc.errors import NotFound, Refusal
from svc.mail.accounts import own_addresses
from svc.mail.accounts import queries as account_queries
from svc.mail.search import mixing, queries, reindexing, wire
from svc.mail.search.expanding import forms_of
from svc.mail.search.find import LIMITS, Found, Limits, Position, find
from svc.mail.search.language import parse
from svc.mail.search.matching import Matcher
from svc.mail.search.model import Query
from svc.mail.search.plan import IDS_A_SECOND, Scope, account_word, plan
from svc.mail.search.snippet import snippet
from svc.mail.search.spelling import NEXT_TO_NOTHING, respelled
from svc.mail.search.tasks import Indexer
from svc.mail.search.wire import FoundThreadOut, ReindexOut, SearchInput, SearchOut, SearchStateOut
from svc.mail.threads import queries as thread_queries
from svc.mail.threads.wire import SYSTEM_LABEL_NAMES, thread_summaries
from svc.nursery import Turns
from svc.principal import Principal
from svc.protocol import Nothing, Procedure
from svc.store import ReadTx, Store
from svc.workspace import RequestContext

SEARCHES_AT_A_TIME: Final = 2
"""For all people together: half of the database's readers stay free for the inbox."""

TURN_WAIT_S: Final = 4.0
"""The longest wait for a turn; then the search is refused with a ``retry-after``. Turns rotate between people."""

RETRY_AFTER_S: Final = 2

PAGE_OF_IDS: Final = 2_000
MAX_PAGES: Final = 100
"""The pages of one search for everything that matches. Each examines no more messages than a page that is shown."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Everything:
    """The threads that match; ``complete``: there are no others."""

    thread_ids: tuple[str, ...]
    next: Position | None
    complete: bool


@dataclass(frozen=True, kw_only=True)
class Search:
    store: Store
    indexer: Indexer
    limits: Limits = LIMITS
    turns: Turns = field(default_factory=lambda: Turns(at_a_time=SEARCHES_AT_A_TIME, each=SEARCHES_AT_A_TIME))

    async def ask(self, principal: Principal, wanted: SearchInput) -> SearchOut:
        if self.indexer.is_synchronous:
            await self.indexer.catch_up()
        return await self._in_turn(principal, answer, wanted=wanted, limits=self.limits)

    async def everything(self, principal: Principal, wanted: SearchInput, *, most: int) -> Everything:
        """The threads of all pages: at most ``most`` threads and :data:`MAX_PAGES` pages. Each page takes a turn."""
        if self.indexer.is_synchronous:
            await self.indexer.catch_up()
        thread_ids: list[str] = []
        position: Position | None = None
        for _ in range(MAX_PAGES):
            found = await self._in_turn(principal, found_ids, wanted=wanted, limits=self.limits, position=position)
            thread_ids += found.thread_ids
            position = found.next
            if position is None or len(thread_ids) > most:
                break
        complete = position is None and len(thread_ids) <= most
        return Everything(thread_ids=tuple(thread_ids[:most]), next=None, complete=complete)

    async def _in_turn(
        self,
        principal: Principal,
        read: Callable[Concatenate[ReadTx, Principal, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        try:
            async with self.turns.turn(principal.user_id or principal.device_id, wait_s=TURN_WAIT_S):
                return await self.store.read(read, principal, *args, **kwargs)
        except trio.TooSlowError:
            raise Refusal(
                "Too many searches at once. Try again in a moment.",
                code="unavailable",
                headers={"retry-after": str(RETRY_AFTER_S)},
            ) from None

    async def mixed(self, principal: Principal, wanted: SearchInput, *, near: Sequence[str]) -> Mixed:
        """The best threads by words and by meaning. ``near``: message ids, the nearest in meaning first. There is only
        one page."""
        if self.indexer.is_synchronous:
            await self.indexer.catch_up()
        return await self._in_turn(principal, _mixed, wanted=wanted, limits=self.limits, near=near)


@dataclass(frozen=True, kw_only=True)
class Mixed:
    """``near`` and ``said``: the ids of the threads that were found by meaning, and by words."""

    threads: tuple[FoundThreadOut, ...]
    said: frozenset[str]
    near: frozenset[str]
    notices: tuple[str, ...]


def free_words(tx: ReadTx, wanted: SearchInput) -> str:
    """The words of the query that are not part of a filter."""
    return mixing.free_words(_query(tx, wanted)[0])


async def search(context: RequestContext, wanted: SearchInput) -> SearchOut:
    return await context.workspace.service(Search).ask(context.principal, wanted)


def answer(tx: ReadTx, principal: Principal, *, wanted: SearchInput, limits: Limits) -> SearchOut:
    """One page of results, all from one database snapshot."""
    position = wire.decode_cursor(wanted)
    scope = _scope(tx, principal, wanted.account_id)
    query, notices = _query(tx, wanted)
    if not query.groups or not scope.addresses:
        return SearchOut(threads=(), next_cursor=None, notices=(*notices, *query.notices))
    scope = _with_forms(tx, query, scope)
    planned = plan(query, scope)
    found = find(tx, planned, position=position, limit=wanted.limit, limits=limits)
    found_enough = len(found.hits) > NEXT_TO_NOTHING or found.next is not None or position is not None
    return SearchOut(
        threads=_threads(tx, principal, found, planned.matcher),
        next_cursor=wire.encode_cursor(found.next, wanted) if found.next else None,
        notices=(*notices, *planned.notices, *_state_notices(tx, found, scope)),
        did_you_mean=None if found_enough else _did_you_mean(tx, wanted, scope, found=len(found.hits), limits=limits),
    )


def _mixed(tx: ReadTx, principal: Principal, *, wanted: SearchInput, limits: Limits, near: Sequence[str]) -> Mixed:
    scope = _scope(tx, principal, wanted.account_id)
    query, notices = _query(tx, wanted)
    if not query.groups or not scope.addresses:
        notices = (*notices, *query.notices)
        return Mixed(threads=(), said=frozenset(), near=frozenset(), notices=notices)
    scope = _with_forms(tx, query, scope)
    planned = plan(query, scope)
    words = find(tx, planned, position=None, limit=mixing.EACH, limits=limits).hits
    best = mixing.mixed(words, mixing.near_hits(tx, query, scope, near))[: wanted.limit]
    return Mixed(
        threads=_threads(tx, principal, Found(hits=tuple(hit for hit, _, _ in best), next=None), planned.matcher),
        said=frozenset(hit.thread_id for hit, is_said, _ in best if is_said),
        near=frozenset(hit.thread_id for hit, _, is_near in best if is_near),
        notices=(*notices, *planned.notices),
    )


def found_ids(
    tx: ReadTx, principal: Principal, *, wanted: SearchInput, limits: Limits, position: Position | None
) -> Everything:
    """One page of results as thread ids only."""
    scope = _scope(tx, principal, wanted.account_id)
    query, _ = _query(tx, wanted)
    if not query.groups or not scope.addresses:
        return Everything(thread_ids=(), next=None, complete=True)
    planned = plan(query, _with_forms(tx, query, scope))
    found = find(tx, planned, position=position, limit=PAGE_OF_IDS, limits=limits)
    return Everything(
        thread_ids=tuple(hit.thread_id for hit in found.hits), next=found.next, complete=found.next is None
    )


def _query(tx: ReadTx, wanted: SearchInput) -> tuple[Query, tuple[str, ...]]:
    zone, notices = _zone(wanted.time_zone)
    return parse(wanted.query, now=tx.now, zone=zone), notices


def _scope(tx: ReadTx, principal: Principal, account_id: str | None) -> Scope:
    accounts = account_queries.accounts(tx, principal)
    if account_id is not None:
        accounts = [account for account in accounts if account.id == account_id]
        if not accounts:
            raise NotFound("There is no such account.")
    ids = [account.id for account in accounts]
    labels = {one: {label.id: label.name for label in thread_queries.labels(tx, one).values()} for one in ids}
    return Scope(
        addresses={account.id: account.address for account in accounts},
        labels={one: {**names, **SYSTEM_LABEL_NAMES} for one, names in labels.items()},
        alone=not queries.others_have_mail(tx, ids),
        mine=tuple(dict.fromkeys(one for account in accounts for one in own_addresses.sendable(account))),
    )


def _with_forms(tx: ReadTx, query: Query, scope: Scope) -> Scope:
    """The scope with the other forms of the words that the accounts' mail has."""
    return replace(scope, forms=forms_of(tx, query, [account_word(one) for one in scope.addresses]))


def _did_you_mean(tx: ReadTx, wanted: SearchInput, scope: Scope, *, found: int, limits: Limits) -> str | None:
    """The first spelling that finds more."""
    zone, _ = _zone(wanted.time_zone)
    accounts = [account_word(one) for one in scope.addresses]
    query = parse(wanted.query, now=tx.now, zone=zone)
    for typed in respelled(tx, query, wanted.query, accounts, known=scope.forms):
        planned = plan(parse(typed, now=tx.now, zone=zone), replace(scope, forms={}))
        if len(find(tx, planned, position=None, limit=found + 1, limits=limits).hits) > found:
            return typed.strip()
    return None


def _zone(name: str | None) -> tuple[tzinfo, tuple[str, ...]]:
    if name is None:
        return UTC, ()
    try:
        return ZoneInfo(name), ()
    except (ValueError, OSError, KeyError):
        return UTC, ("Your time zone is not known here; days are those of UTC.",)


def _threads(tx: ReadTx, principal: Principal, found: Found, matcher: Matcher) -> tuple[FoundThreadOut, ...]:
    texts = queries.texts(tx, [hit.id for hit in found.hits])
    rows = [(hit, thread_queries.thread(tx, hit.thread_id)) for hit in found.hits]
    shown = [(hit, row) for hit, row in rows if row is not None]
    threads = thread_summaries(tx, [row for _, row in shown], principal)
    found_threads = []
    for (hit, _), thread in zip(shown, threads, strict=True):
        message_id, columns = texts[hit.id]
        found_threads.append(wire.found_thread(thread, message_id=message_id, snippet=snippet(columns, matcher.marks)))
    return tuple(found_threads)


def _state_notices(tx: ReadTx, found: Found, scope: Scope) -> tuple[str, ...]:
    notices = []
    if found.stopped and found.next:
        notices.append(f"Looked back as far as {_day(found.next.high)}; go on for what is older.")
    if queries.is_behind(tx, list(scope.addresses)):
        notices.append("Some mail is still being read for search and can't be found yet.")
    return tuple(notices)


def _day(id: int) -> str:
    at: Millis = id // IDS_A_SECOND * 1_000
    return datetime.fromtimestamp(at / 1_000, tz=UTC).date().isoformat()


PROCEDURES: tuple[Procedure[RequestContext], ...] = (
    Procedure(
        name="mail.search",
        kind="query",
        access="authenticated",
        input=SearchInput,
        output=SearchOut,
        call=search,
        is_costly=True,
        summary="Find threads by words, people, dates, places and labels; the best of the newest first.",
    ),
    Procedure(
        name="search.reindex",
        kind="mutation",
        access="admin",
        input=Nothing,
        output=ReindexOut,
        call=reindexing.reindex_everything,
        summary="Take the words of all mail anew, as a run; searching goes on meanwhile.",
    ),
    Procedure(
        name="search.state",
        kind="query",
        access="admin",
        input=Nothing,
        output=SearchStateOut,
        call=reindexing.search_state,
        summary="How many messages can be found, how many wait, and the run that re-indexes.",
    ),
)
