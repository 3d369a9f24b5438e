"""Updates the full-text index of pages: a queued page is removed from it and, if it still exists, added again.

Triggers queue a page in the transaction that makes, changes or deletes it, whatever code does that: pages that a
feature makes for itself and pages that go into the trash are not recorded events. So a crash loses nothing, and the
writer does not wait. Each page is added at the end: the order of the index is that of the latest changes.

Owns ``page_search``, ``page_search_fts`` and ``page_search_queue``.
"""

from __future__ import annotations

from typing import Final

from svc.pages import search_words
from svc.store import ReadTx, Tx, json_array

TAKEN_AT_ONCE: Final = 100
"""Pages in one transaction: other writes wait some tens of milliseconds for it."""


def take(tx: Tx) -> bool:
    """Process a part of the queue. Returns whether anything is left."""
    rows = tx.all("select page_id from page_search_queue order by number limit :most", most=TAKEN_AT_ONCE)
    page_ids = [str(page_id) for (page_id,) in rows]
    for page_id in page_ids:
        _take_out(tx, page_id)
        _put_in(tx, page_id)
    tx.run(
        "delete from page_search_queue where page_id in (select value from json_each(:ids))", ids=json_array(page_ids)
    )
    return has_waiting(tx)


def has_waiting(tx: ReadTx) -> bool:
    return tx.value("select 1 from page_search_queue limit 1") is not None


def _take_out(tx: Tx, page_id: str) -> None:
    tx.run(
        """
        insert into page_search_fts (page_search_fts, rowid, title, body)
        select 'delete', id, title, body from page_search where page_id = :page_id
        """,
        page_id=page_id,
    )
    tx.run("delete from page_search where page_id = :page_id", page_id=page_id)


def _put_in(tx: Tx, page_id: str) -> None:
    row = tx.one(
        """
        select p.title, substr(r.body, 1, :most)
        from pages p join page_revisions r on r.page_id = p.id and r.revision = p.revision where p.id = :page_id
        """,
        page_id=page_id,
        most=search_words.MAX_INDEXED_CHARS,
    )
    if row is None:
        return
    title, body = (search_words.indexed(text) for text in (str(row[0]), search_words.readable(str(row[1]))))
    tx.run(
        "insert into page_search (page_id, title, body) values (:page_id, :title, :body)",
        page_id=page_id,
        title=title,
        body=body,
    )
    tx.run(
        """
        insert into page_search_fts (rowid, title, body)
        select id, title, body from page_search where page_id = :page_id
        """,
        page_id=page_id,
    )
