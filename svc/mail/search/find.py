"""The search itself: windows of the newest hits, ranked within a window, each thread once, page by page.

A window is the newest :data:`WINDOW_HITS` messages that have the words and meet the conditions. Within it, the exact
words come before other forms; then, all words in subject or people before words in the body; then, the newest first.
After it comes the next window. So the cost depends on the window, not on the size of the mailboxes. A filter that
matches very little is bounded by the number of examined messages: the search stops there, says so, and can go on from
its cursor.

A cursor has the newest message at the start and the number of the last index entry: messages that are added later, with
new or old dates, are not part of a search that has begun.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from typing import Final

from svc.mail.search import queries
from svc.mail.search.plan import Plan
from svc.store import ReadTx

WINDOW_HITS: Final = 2_000
MAX_EXAMINED: Final = 40_000
"""How many messages with the words one call examines."""

WITH_ITS_THREAD: Final = 3
"""A message whose thread must be looked up counts as this many examined messages."""

WITH_ITS_TEXT: Final = 4
"""A message whose text must be read counts as this many: the searched words have signs, which the index does not
have."""

IN_NAMED: Final = 0
IN_BODY: Final = 1
IN_OTHER_FORMS: Final = 2
"""Added to the rank of a message that has only longer words or other forms: it comes after all with the exact words."""

_BEFORE_ALL: Final = (-1, 0)


@dataclass(frozen=True, kw_only=True)
class Position:
    """Where a page ended. ``low`` is the window's lower end, if the page ended within a window."""

    top: int
    entries: int
    high: int
    low: int | None = None
    rank: int = -1
    after: int = 0


@dataclass(frozen=True, kw_only=True)
class Hit:
    """The message that represents its thread in the results."""

    id: int
    thread_id: str


@dataclass(frozen=True, kw_only=True)
class Found:
    """``stopped``: there may be more hits, but the search has reached its limit of examined messages."""

    hits: tuple[Hit, ...]
    next: Position | None
    stopped: bool = False


@dataclass(frozen=True, kw_only=True)
class Limits:
    window: int = WINDOW_HITS
    examined: int = MAX_EXAMINED


LIMITS: Final = Limits()


@dataclass(frozen=True, kw_only=True)
class _Window:
    high: int
    low: int
    threads: dict[int, str]
    """Maps the message's id in the index to its thread, newest first."""
    examined: int
    is_last: bool


def find(tx: ReadTx, plan: Plan, *, position: Position | None, limit: int, limits: Limits) -> Found:
    """The next page after ``position``."""
    place = position or Position(top=plan.high, entries=queries.state(tx).entries, high=plan.high)
    hits: list[Hit] = []
    examined = last_rank = 0
    cost = (WITH_ITS_THREAD if plan.asks_threads else 1) * (WITH_ITS_TEXT if plan.signs else 1)
    allowed = max(1, limits.examined // cost)
    while True:
        window = _window(tx, plan, place, limits=replace(limits, examined=allowed - examined))
        examined += window.examined
        for rank, hit in _in_order(tx, plan, window):
            if (rank, -hit.id) <= ((place.rank, -place.after) if place.low is not None else _BEFORE_ALL):
                continue
            if len(hits) == limit:
                return Found(hits=tuple(hits), next=_within(place, window, after=hits[-1], rank=last_rank))
            if place.high < place.top and _was_shown(tx, plan, hit, place):
                continue
            hits.append(hit)
            last_rank = rank
        if window.is_last:
            return Found(hits=tuple(hits), next=None)
        place = Position(top=place.top, entries=place.entries, high=window.low - 1)
        if len(hits) == limit or examined >= allowed:
            return Found(hits=tuple(hits), next=place, stopped=len(hits) < limit)


def _within(place: Position, window: _Window, *, after: Hit, rank: int) -> Position:
    low = 0 if window.is_last else window.low
    return replace(place, low=low, rank=rank, after=after.id)


def _window(tx: ReadTx, plan: Plan, place: Position, *, limits: Limits) -> _Window:
    """The hits from ``place`` to older ones. A window that was partly shown is read again to the same lower end."""
    low = plan.low if place.low is None else max(place.low, plan.low)
    threads: dict[int, str] = {}
    examined = 0
    last = low
    if place.high >= low:
        for last, thread_id in queries.scan(tx, plan, low=low, high=place.high, entries=place.entries):
            examined += 1
            if thread_id is not None:
                threads[last] = thread_id
            if place.low is None and (len(threads) >= limits.window or examined >= limits.examined):
                return _Window(high=place.high, low=last, threads=threads, examined=examined, is_last=False)
    is_last = low <= plan.low
    return _Window(high=place.high, low=low, threads=threads, examined=examined, is_last=is_last)


def _in_order(tx: ReadTx, plan: Plan, window: _Window) -> Iterator[tuple[int, Hit]]:
    """Each thread of the window once, at the rank of its best message. Of one mail in several accounts only one is
    shown."""
    ranked = sorted((rank, -hit_id) for hit_id, rank in _ranks(tx, plan, window).items())
    found = set(window.threads.values())
    seen: set[str] = set()
    for rank, negated in ranked:
        thread_id = window.threads[-negated]
        if thread_id not in seen:
            seen.add(thread_id)
            duplicates = queries.duplicates(tx, plan, thread_id)
            if next((one for one in duplicates if one in found), thread_id) == thread_id:
                yield rank, Hit(id=-negated, thread_id=thread_id)


def _ranks(tx: ReadTx, plan: Plan, window: _Window) -> dict[int, int]:
    """The rank of each hit: the exact words before other forms, and within both, all words in subject and people
    first."""
    named = _having(tx, plan, window, plan.named)
    exact = _having(tx, plan, window, plan.exactly)
    return {
        hit_id: (IN_NAMED if hit_id in named else IN_BODY) + (0 if hit_id in exact else IN_OTHER_FORMS)
        for hit_id in window.threads
    }


def _having(tx: ReadTx, plan: Plan, window: _Window, match: str) -> Set[int]:
    if match == plan.match or not window.threads:
        return window.threads.keys()
    return queries.having(tx, match, low=window.low, high=window.high)


def _was_shown(tx: ReadTx, plan: Plan, hit: Hit, place: Position) -> bool:
    """Whether the thread has a hit in a newer window, and so was shown on an earlier page."""
    newer = queries.newer_of_thread(
        tx, plan, thread_id=hit.thread_id, low=place.high + 1, high=place.top, entries=place.entries
    )
    return any(map(plan.matcher.matches, newer))
