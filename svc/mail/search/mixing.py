"""The words' ranking and another one, mixed: reciprocal rank fusion (Cormack, Clarke, Büttcher, SIGIR 2009).

A thread counts 1/(60 + its place) in each of the two, so that what stands high in both comes first and neither's own
numbers matter. The other ranking is a list of messages that somebody else found near in meaning; the filters that were
typed (people, dates, places, labels) hold for them as for all, and so does who may see what.
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
"""Threads of either ranking that take part."""


def free_words(query: Query) -> str:
    """What was typed to be looked for anywhere: its meaning is asked for. Empty where there are filters alone."""
    return " ".join(
        term.what.words
        for group in query.groups
        if _is_free(group)
        for term in group
        if isinstance(term.what, Text) and not term.negated
    )


def without_free_words(query: Query) -> Query:
    """The filters alone."""
    return Query(groups=tuple(group for group in query.groups if not _is_free(group)), notices=())


def _is_free(group: tuple[Term, ...]) -> bool:
    return any(isinstance(one.what, Text) and one.what.columns == COLUMNS and not one.negated for one in group)


def near_hits(tx: ReadTx, query: Query, scope: Scope, near: Sequence[str]) -> list[Hit]:
    """Threads of these messages, which come the nearest first; of one mail in several accounts only one."""
    filters = without_free_words(query)
    planned = plan(filters, scope)
    has_words = any(isinstance(term.what, Text) for group in filters.groups for term in group)
    rows = _kept(tx, planned, near, has_words=has_words)
    hits: dict[str, Hit] = {}
    for message_id in near:
        if message_id in rows:
            row_id, thread_id = rows[message_id]
            twins = queries.twins(tx, planned, thread_id) or [thread_id]
            hits.setdefault(twins[0], Hit(id=row_id, thread_id=thread_id))
    return list(hits.values())[:EACH]


def _kept(tx: ReadTx, planned: Plan, near: Sequence[str], *, has_words: bool) -> dict[str, tuple[int, str]]:
    """By message: its id in the index and its thread, where it keeps the filters."""
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
    """Each thread once, the best first, with whether the words have it, and whether it is near. The words' hit stands
    for its thread: it shows the passage."""
    scores: dict[str, float] = {}
    hits: dict[str, Hit] = {}
    for ranking in (words, near):
        for place, hit in enumerate(ranking, start=1):
            scores[hit.thread_id] = scores.get(hit.thread_id, 0.0) + 1.0 / (K + place)
            hits.setdefault(hit.thread_id, hit)
    said, meant = ({hit.thread_id for hit in ranking} for ranking in (words, near))
    order = sorted(scores, key=lambda thread_id: (-scores[thread_id], -hits[thread_id].id))
    return [(hits[one], one in said, one in meant) for one in order]
