"""Creates many pages of a manager at once, with a fixed small number of statements.

A repository's first sync brings thousands of pages. Only pages without a conflict are made here; for each other one
``alone.py`` reports the conflict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from svc.errors import Refusal
from svc.ids import new_id
from svc.pages import news
from svc.pages.links import pages_in
from svc.pages.model import Access, Grant, page_body, page_path, page_title, paths_above
from svc.principal import Principal
from svc.store import ReadTx, Tx, json_array


@dataclass(frozen=True, kw_only=True)
class NewPage:
    """``title`` ``None``: the last part of the path. ``grants`` only with explicit access. ``file_ids``: the manager's
    own files that the text shows."""

    path: str
    title: str | None
    body: str
    access: Access = "inherited"
    grants: Sequence[Grant] = ()
    file_ids: Sequence[str] = ()


def make(tx: Tx, manager: Principal, *, owner_id: str | None, pages: Iterable[NewPage]) -> dict[str, str]:
    """Make the pages that have no conflict. Returns their ids, by path.

    It leaves out a page whose path is taken, whose path, title or text is invalid, or that would share pages that exist
    below it.
    """
    free = _free(tx, {page.path: page for page in pages if _may_be(page)})
    ids = {path: new_id("pag") for path in free}
    sources = _sources(tx, free, ids)
    _insert(tx, manager, owner_id=owner_id, pages=free, ids=ids, sources=sources)
    news.tell_of_new(tx, manager, [(page_id, path, owner_id, sources[path]) for path, page_id in ids.items()])
    return ids


def _may_be(page: NewPage) -> bool:
    try:
        page_title(page.title, path=page.path)
        page_body(page.body)
        return page_path(page.path) == page.path
    except Refusal:
        return False


def _free(tx: ReadTx, pages: Mapping[str, NewPage]) -> dict[str, NewPage]:
    """The pages that can be made, sorted by path, so that each comes after the pages above it."""
    explicit = [page.path for page in pages.values() if page.access == "explicit"]
    in_the_way = tx.all(
        """
        select w.value from json_each(:paths) w where exists (select 1 from pages p where p.path = w.value)
        union all
        select w.value from json_each(:explicit) w
        where exists (select 1 from pages p where p.path > w.value || '/' and p.path < w.value || '0')
        """,
        paths=json_array(pages),
        explicit=json_array(explicit),
    )
    left_out = {path for (path,) in in_the_way}
    return {path: pages[path] for path in sorted(pages) if path not in left_out}


def _sources(tx: ReadTx, pages: Mapping[str, NewPage], ids: Mapping[str, str]) -> dict[str, str | None]:
    """The page whose grants apply for each of ``pages``: the ``source_id`` that ``access.py`` defines."""
    above = {higher for path in pages for higher in paths_above(path)}
    known: dict[str, str | None] = dict(
        tx.all(
            "select path, source_id from pages where path in (select value from json_each(:paths))",
            paths=json_array(above),
        )
    )
    for path, page in pages.items():
        nearest = next((known[higher] for higher in paths_above(path) if higher in known), None)
        known[path] = ids[path] if page.access == "explicit" else nearest
    return {path: known[path] for path in pages}


def _insert(
    tx: Tx,
    manager: Principal,
    *,
    owner_id: str | None,
    pages: Mapping[str, NewPage],
    ids: Mapping[str, str],
    sources: Mapping[str, str | None],
) -> None:
    titles = {path: page_title(page.title, path=path) for path, page in pages.items()}
    tx.run_many(
        """
        insert into pages (id, path, title, kind, owner_id, access, source_id, revision, created_at, updated_at)
        values (:id, :path, :title, 'page', :owner_id, :access, :source_id, 1, :now, :now)
        """,
        (
            {
                "id": ids[path],
                "path": path,
                "title": titles[path],
                "owner_id": owner_id,
                "access": page.access,
                "source_id": sources[path],
                "now": tx.now,
            }
            for path, page in pages.items()
        ),
    )
    tx.run_many(
        """
        insert into page_revisions (page_id, revision, title, author_id, device_id, at, body)
        values (:id, 1, :title, :author_id, :device_id, :now, :body)
        """,
        (
            {
                "id": ids[path],
                "title": titles[path],
                "author_id": manager.user_id,
                "device_id": manager.device_id,
                "now": tx.now,
                "body": page.body,
            }
            for path, page in pages.items()
        ),
    )
    tx.run_many(
        "insert into page_grants (page_id, grantee, level) values (:id, :to, :level)",
        (
            {"id": ids[path], "to": grant.to, "level": grant.level}
            for path, page in pages.items()
            for grant in page.grants
        ),
    )
    tx.run_many(
        "insert into page_links (target_path, page_id) values (:target, :id)",
        ({"id": ids[path], "target": target} for path, page in pages.items() for target in pages_in(page.body)),
    )
    tx.run_many(
        "insert into page_files (file_id, page_id) values (:file_id, :id)",
        ({"id": ids[path], "file_id": file_id} for path, page in pages.items() for file_id in set(page.file_ids)),
    )
