"""How a manager moves or removes one of its pages: without the pages below, which are separate files.

``actions.py`` moves a whole subtree, as a person means it. A file that is renamed or deleted moves nothing else: the
pages below stay where they are, and inherit from what is then above them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from svc.clock import Millis
from svc.errors import Conflict
from svc.pages import news, queries, trash, tree
from svc.pages.model import Access, Earlier, Grant, Page, page_body, page_path, page_title
from svc.pages.writing import insert, revise
from svc.principal import Principal
from svc.store import Tx, json_array


def make(tx: Tx, manager: Principal, *, owner_id: str | None, path: str, title: str | None, body: str) -> str | None:
    """Create a page with inherited access. Returns its id; ``None`` if the path is taken."""
    path = page_path(path)
    if queries.exists(tx, path):
        return None
    title = page_title(title, path=path)
    page_id = insert(tx, manager, path=path, title=title, body=page_body(body), owner_id=owner_id, kind="page")
    news.tell(tx, manager, "page.changed", news.reach_of(tx, path, alone=True))
    return page_id


def move(tx: Tx, manager: Principal, page: Page, *, to: str) -> None:
    """Move the page. Raises `Conflict` if there is a page at ``to``."""
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
    """Move the page into the trash."""
    before = news.reach_of(tx, page.path)
    trash.put(tx, manager, page, alone=True)
    tree.settle_sources(tx, page.path)
    news.tell(tx, manager, "page.removed", before)


def write(tx: Tx, manager: Principal, page: Page, *, title: str | None, body: str) -> None:
    """Write a new revision, if the text differs."""
    revise(tx, manager, page, title=page_title(title, path=page.path), body=page_body(body))


def bring_history(tx: Tx, manager: Principal, page: Page, earlier: Sequence[Earlier]) -> None:
    """Replace all revisions before the current one by ``earlier``, the oldest first."""
    number = len(earlier) + 1
    tx.run("delete from page_revisions where page_id = :id and revision <> :now", id=page.id, now=page.revision)
    tx.run("update page_revisions set revision = :number where page_id = :id", id=page.id, number=number)
    tx.run("update pages set revision = :number where id = :id", id=page.id, number=number)
    for revision, one in enumerate(earlier, 1):
        tx.run(
            """
            insert into page_revisions (page_id, revision, title, author_id, device_id, at, body)
            values (:id, :revision, :title, :author_id, :device_id, :at, :body)
            """,
            id=page.id,
            revision=revision,
            title=page_title(one.title, path=page.path),
            author_id=one.author_id,
            device_id=manager.device_id,
            at=one.at,
            body=page_body(one.body),
        )


def bring_times(tx: Tx, page: Page, *, author_id: str | None, created_at: Millis, updated_at: Millis) -> None:
    """Give the page and its current text the times, and that text the author, that they had in another home."""
    times = {"created_at": created_at, "updated_at": updated_at}
    tx.run("update pages set created_at = :created_at, updated_at = :updated_at where id = :id", id=page.id, **times)
    tx.run(
        """
        update page_revisions set at = :at, author_id = :author_id
        where page_id = :id and revision = (select revision from pages where id = :id)
        """,
        id=page.id,
        at=updated_at,
        author_id=author_id,
    )


def share(tx: Tx, manager: Principal, page: Page, *, access: Access, grants: Sequence[Grant]) -> None:
    """Like :func:`svc.pages.actions.set_access`, for the page's owner. Raises `Conflict` where that would also share
    pages of others below it."""
    if access == page.access and sorted(grants, key=_to) == sorted(queries.grants(tx, page.id), key=_to):
        return
    owner = Principal(user_id=page.owner_id, device_id=manager.device_id, is_admin=False, via="session")
    begins = page.access == "inherited" and access == "explicit" and page.owner_id is not None
    if begins and queries.unshared_of_others_below(tx, owner, page.path):
        raise Conflict("Below it lie pages of others, who have shared them with nobody.")
    before, *_ = news.reach_of(tx, page.path)
    tree.set_access(tx, page, access=access, grants=grants)
    after = news.reach_of(tx, page.path)
    news.tell_the_excluded(tx, manager, before=before, after=after[0])
    news.tell(tx, manager, "page.changed", after)


def show_files(tx: Tx, page_id: str, file_ids: Iterable[str]) -> None:
    """Let all readers of the page read these files: the manager's own, which its text shows."""
    tx.run(
        """
        insert into page_files (file_id, page_id) select value, :id from json_each(:files) where true
        on conflict do nothing
        """,
        id=page_id,
        files=json_array(file_ids),
    )


def _to(grant: Grant) -> str:
    return grant.to
