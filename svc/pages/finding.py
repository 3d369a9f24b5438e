"""Full-text search of pages, limited to what the principal may read.

The order depends only on readable pages: first those with all words in the title, and in each group the latest change
first. There is no ranking by how rare a word is: it would reveal pages that others keep private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from svc.clock import Millis
from svc.pages import search_words
from svc.pages.access import READABLE, who
from svc.principal import Principal
from svc.store import ReadTx, Row, json_array

MAX_FOUND: Final = 20
MAX_LOOKED_THROUGH: Final = 20_000
"""Only so many pages with the words are checked, those that changed last. A caller finds nothing if that many of
others' pages come first."""


@dataclass(frozen=True, kw_only=True)
class FoundPage:
    id: str
    path: str
    title: str
    snippet: str
    updated_at: Millis


def find(tx: ReadTx, principal: Principal, *, text: str, limit: int) -> list[FoundPage]:
    """The readable pages with all words of ``text``; the last word may be incomplete. Without words: the latest
    pages."""
    words = search_words.typed_words(text)
    if not words:
        return _latest(tx, principal, limit=limit) if not text.strip() else []
    wanted = search_words.expression(words)
    titled = _matching(tx, principal, f"{{title}} : ({wanted})", limit=limit)
    rows = {row[0]: row for row in titled}
    if len(rows) < limit:
        rows |= {row[0]: row for row in _matching(tx, principal, wanted, limit=limit) if row[0] not in rows}
    return [_found(row, words) for row in list(rows.values())[:limit]]


def readable_ids(tx: ReadTx, principal: Principal) -> list[str]:
    """Every readable page, up to a limit: those that changed last."""
    rows = tx.all(
        f"""
        select p.id from pages p where p.kind = 'page' and {READABLE} order by p.updated_at desc limit :most
        """,
        most=MAX_LOOKED_THROUGH,
        **who(principal),
    )
    return [str(page_id) for (page_id,) in rows]


def found_pages(tx: ReadTx, principal: Principal, page_ids: Sequence[str], *, text: str) -> dict[str, FoundPage]:
    """Those of ``page_ids`` that are readable and indexed, in the form that a search for ``text`` shows."""
    rows = tx.all(
        f"""
        select p.id, p.path, p.title, s.body, p.updated_at from page_search s join pages p on p.id = s.page_id
        where p.kind = 'page' and p.id in (select value from json_each(:ids)) and {READABLE}
        """,
        ids=json_array(page_ids),
        **who(principal),
    )
    words = search_words.typed_words(text)
    return {str(row[0]): _found(row, words) for row in rows}


def searched_texts(tx: ReadTx, page_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Title and readable text of pages, from the index."""
    rows = tx.all(
        "select page_id, title, body from page_search where page_id in (select value from json_each(:ids))",
        ids=json_array(page_ids),
    )
    restored = search_words.restored
    return {str(page_id): (restored(str(title)), restored(str(body))) for page_id, title, body in rows}


def _matching(tx: ReadTx, principal: Principal, wanted: str, *, limit: int) -> list[Row]:
    return tx.all(
        f"""
        select p.id, p.path, p.title, s.body, p.updated_at
        from (
            select rowid as id from page_search_fts where page_search_fts match :wanted
            order by rowid desc limit :looked_through
        ) f
        join page_search s on s.id = f.id join pages p on p.id = s.page_id
        where p.kind = 'page' and {READABLE} order by f.id desc limit :limit
        """,
        wanted=wanted,
        looked_through=MAX_LOOKED_THROUGH,
        limit=limit,
        **who(principal),
    )


def _latest(tx: ReadTx, principal: Principal, *, limit: int) -> list[FoundPage]:
    """The latest pages, from the pages themselves: the index learns of a change a moment later."""
    rows = tx.all(
        f"""
        select p.id, p.path, p.title, coalesce(s.body, ''), p.updated_at
        from (select id from pages where kind = 'page' order by updated_at desc limit :looked_through) l
        join pages p on p.id = l.id left join page_search s on s.page_id = p.id
        where {READABLE} order by p.updated_at desc, s.id desc nulls first, p.rowid desc limit :limit
        """,
        looked_through=MAX_LOOKED_THROUGH,
        limit=limit,
        **who(principal),
    )
    return [_found(row, []) for row in rows]


def _found(row: Row, words: list[str]) -> FoundPage:
    return FoundPage(
        id=cast(str, row[0]),
        path=cast(str, row[1]),
        title=cast(str, row[2]),
        snippet=search_words.snippet(search_words.restored(cast(str, row[3])), words),
        updated_at=cast(int, row[4]),
    )
