"""Mixes the ranking by words with another one: reciprocal rank fusion (Cormack, Clarke, Büttcher, SIGIR 2009).

A thread gets 1/(60 + its place) from each ranking. So a thread that is high in both comes first, and the scores of the
two rankings are not compared. The other ranking is a list of messages near in meaning, which the caller found. The
typed filters (people, dates, places, labels) and the access rules apply to them, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.mail.search import queries
from svc.mail.search.find import Hit
from svc.mail.search.model import COLUMNS, Query, Term, Text
from svc.mail.search.plan import Plan, Scope, plan
from svc.store import ReadTx, json_array

K: Final = 60
EACH: Final = 100
"""How many threads of each ranking take part."""


def free_words(query: Query) -> str:
    """The words that may match in any column: the search by meaning uses them. Empty if the query has only filters."""
    return " ".join(
        term.what.words
        for group in query.groups
        if _is_free(group)
        for term in group
        if isinstance(term.what, Text) and not term.negated
    )


def without_free_words(query: Query) -> Query:
    """The query with its filters only."""
    return Query(groups=tuple(group for group in query.groups if not _is_free(group)), notices=())


def _is_free(group: tuple[Term, ...]) -> bool:
    return any(isinstance(one.what, Text) and one.what.columns == COLUMNS and not one.negated for one in group)


def near_hits(tx: ReadTx, query: Query, scope: Scope, near: Sequence[str]) -> list[Hit]:
    """The threads of the messages ``near``, which are ordered nearest first. For one mail in several accounts only one
    thread is returned."""
    filters = without_free_words(query)
    planned = plan(filters, scope)
    has_words = any(isinstance(term.what, Text) for group in filters.groups for term in group)
    rows = _kept(tx, planned, near, has_words=has_words)
    hits: dict[str, Hit] = {}
    for message_id in near:
        if message_id in rows:
            row_id, thread_id = rows[message_id]
            duplicates = queries.duplicates(tx, planned, thread_id) or [thread_id]
            hits.setdefault(duplicates[0], Hit(id=row_id, thread_id=thread_id))
    return list(hits.values())[:EACH]


def _kept(tx: ReadTx, planned: Plan, near: Sequence[str], *, has_words: bool) -> dict[str, tuple[int, str]]:
    """Maps each message that passes the filters to its id in the index and its thread."""
    matching = "and s.id in (select rowid from mail_search_fts where mail_search_fts match :match)" if has_words else ""
    rows = tx.all(
        f"""
        select s.message_id, s.id, s.thread_id from mail_search s
        where s.message_id in (select value from json_each(:near)) and s.id between :low and :high
            and {planned.where} {matching}
        """,
        near=json_array(near),
        low=planned.low,
        high=planned.high,
        **({"match": planned.match} if has_words else {}),
        **planned.params,
    )
    return {str(message_id): (int(str(row_id)), str(thread_id)) for message_id, row_id, thread_id in rows}


def mixed(words: Sequence[Hit], near: Sequence[Hit]) -> list[tuple[Hit, bool, bool]]:
    """Each thread once, the best first, with two flags: found by words, and near in meaning. If both found a thread,
    the hit by words is returned, because it has a passage to show."""
    scores: dict[str, float] = {}
    hits: dict[str, Hit] = {}
    for ranking in (words, near):
        for place, hit in enumerate(ranking, start=1):
            scores[hit.thread_id] = scores.get(hit.thread_id, 0.0) + 1.0 / (K + place)
            hits.setdefault(hit.thread_id, hit)
    said, meant = ({hit.thread_id for hit in ranking} for ranking in (words, near))
    order = sorted(scores, key=lambda thread_id: (-scores[thread_id], -hits[thread_id].id))
    return [(hits[one], one in said, one in meant) for one in order]
