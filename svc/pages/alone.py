"""How a manager moves and takes away one of its pages: without those below it, which are files of their own.

``actions.py`` takes a whole subtree along, as a person means it. A file that is renamed or deleted takes nothing along:
what is below stays where it is, and inherits from what is then above.
"""

from __future__ import annotations

from svc.errors import Conflict
from svc.pages import news, queries, trash, tree
from svc.pages.model import Page, page_body, page_path, page_title
from svc.pages.writing import insert
from svc.principal import Principal
from svc.store import Tx


def make(tx: Tx, manager: Principal, *, owner_id: str | None, path: str, title: str | None, body: str) -> str | None:
    """A page with inherited access. Returns its id; ``None`` if the path is taken."""
    path = page_path(path)
    if queries.exists(tx, path):
        return None
    title = page_title(title, path=path)
    page_id = insert(tx, manager, path=path, title=title, body=page_body(body), owner_id=owner_id, kind="page")
    news.tell(tx, manager, "page.changed", news.reach_of(tx, path, alone=True))
    return page_id


def move(tx: Tx, manager: Principal, page: Page, *, to: str) -> None:
    """Raises `Conflict` if there is a page at ``to``."""
    to = page_path(to)
    if queries.exists(tx, to):
        raise Conflict("There is a page at that path already.")
    before = news.reach_of(tx, page.path)
    tx.run("update pages set path = :to where id = :id", id=page.id, to=to)
    tree.settle_sources(tx, page.path)
    tree.settle_sources(tx, to)
    news.tell(tx, manager, "page.removed", before)
    news.tell(tx, manager, "page.changed", news.reach_of(tx, to))


def remove(tx: Tx, manager: Principal, page: Page) -> None:
    """Into the trash."""
    before = news.reach_of(tx, page.path)
    trash.put(tx, manager, page, alone=True)
    tree.settle_sources(tx, page.path)
    news.tell(tx, manager, "page.removed", before)
