"""Changes to the tree itself: the paths of pages, and whose grants apply to them.

Owns the column ``source_id``: after each function here it is what ``access.py`` defines. Nothing here checks
permissions; ``actions.py`` has done it before.
"""

from __future__ import annotations

from collections.abc import Sequence

from svc.pages import queries
from svc.pages.model import Access, Grant, Page, paths_above
from svc.pages.queries import BELOW, SUBTREE
from svc.store import Tx


def set_access(tx: Tx, page: Page, *, access: Access, grants: Sequence[Grant]) -> None:
    """Set a page's access and replace its grants."""
    tx.run("delete from page_grants where page_id = :id", id=page.id)
    grant(tx, page.id, grants)
    tx.run("update pages set access = :access where id = :id", id=page.id, access=access)
    _change_source(tx, page, path=page.path, new=page.id if access == "explicit" else _inherited(tx, page.path))


def grant(tx: Tx, page_id: str, grants: Sequence[Grant]) -> None:
    """Give a page with explicit access its grants; it must have none yet."""
    tx.run_many(
        "insert into page_grants (page_id, grantee, level) values (:id, :to, :level)",
        [{"id": page_id, "to": one.to, "level": one.level} for one in grants],
    )


def relocate(tx: Tx, page: Page, *, to: str) -> None:
    """Give a subtree its new paths. Nothing may be at ``to`` or below it."""
    tx.run(
        f"update pages as p set path = :to || substr(p.path, length(:path) + 1) where {SUBTREE}", path=page.path, to=to
    )
    if page.access == "inherited":
        _change_source(tx, page, path=to, new=_inherited(tx, to))


def remove(tx: Tx, page: Page) -> None:
    tx.run(f"delete from pages as p where {SUBTREE}", path=page.path)


def keep_alone_below(tx: Tx, path: str) -> None:
    """Pages below that nothing shares stay so, whatever page comes above them."""
    tx.run(
        f"update pages as p set access = 'explicit', source_id = p.id where {BELOW} and p.source_id is null", path=path
    )


def settle_sources(tx: Tx, path: str) -> None:
    """Recompute ``source_id`` in a whole subtree, after pages came back into it."""
    above = _inherited(tx, path)
    settled: dict[str, str | None] = {}  # by path; pages above come first
    wrong = []
    rows = tx.all(f"select p.id, p.path, p.access, p.source_id from pages p where {SUBTREE} order by p.path", path=path)
    for page_id, page_path, access, source_id in rows:
        nearest = next((settled[higher] for higher in paths_above(page_path) if higher in settled), above)
        settled[page_path] = page_id if access == "explicit" else nearest
        if source_id != settled[page_path]:
            wrong.append({"id": page_id, "source_id": settled[page_path]})
    tx.run_many("update pages set source_id = :source_id where id = :id", wrong)


def _inherited(tx: Tx, path: str) -> str | None:
    above = queries.nearest_above(tx, path)
    return above and above[1]


def _change_source(tx: Tx, page: Page, *, path: str, new: str | None) -> None:
    """Set a new source for the page and for those below with the same old source: no page between them is explicit."""
    tx.run(
        f"update pages as p set source_id = :new where p.path = :path or (({BELOW}) and p.source_id is :old)",
        path=path,
        old=page.source_id,
        new=new,
    )
