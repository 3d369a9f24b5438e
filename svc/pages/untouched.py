"""Finds pages that a feature made and nobody has changed since, and removes them.

A user who wrote a revision, shared a page, put one below it or linked to it has made use of it: such a page is not
found here, and not removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from svc.pages import news, queries, tree
from svc.principal import Principal
from svc.store import ReadTx, Tx, json_array


@dataclass(frozen=True, kw_only=True)
class MadePage:
    """The page as it was made; only its path may have changed."""

    id: str
    path: str
    title: str
    body: str


def untouched(tx: ReadTx, maker: Principal, *, page_ids: Iterable[str]) -> dict[str, MadePage]:
    """Those of ``page_ids`` that ``maker`` made and nobody has touched since."""
    rows = tx.all(
        """
        select p.id, p.path, r.title, r.body from pages p
            join page_revisions r on r.page_id = p.id and r.revision = p.revision
        where p.id in (select value from json_each(:ids)) and p.kind = 'page' and p.revision = 1
            and r.author_id is null and r.device_id = :maker and p.access = 'explicit'
            and not exists (select 1 from page_grants g where g.page_id = p.id)
            and not exists (select 1 from pages b where b.path > p.path || '/' and b.path < p.path || '0')
            and not exists (select 1 from page_links l where l.target_path = p.path)
        """,
        ids=json_array(page_ids),
        maker=maker.device_id,
    )
    return {row[0]: MadePage(id=row[0], path=row[1], title=row[2], body=row[3]) for row in rows}


def take_away(tx: Tx, maker: Principal, page: MadePage) -> None:
    """Remove the page. The caller must have called :func:`untouched` in this transaction."""
    found = queries.readable_page(tx, maker, page.path)
    assert found is not None
    before = news.reach_of(tx, page.path, alone=True)
    tree.remove(tx, found)
    news.tell(tx, maker, "page.removed", before)
