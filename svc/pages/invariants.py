"""What must always be true of pages, checked by ``svc fsck``: stored columns and tables match the tree and the
texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from svc.errors import Invalid
from svc.pages.links import files_in, pages_in
from svc.pages.model import page_path, paths_above
from svc.store import Invariant, ReadTx


def _paths(tx: ReadTx) -> Iterator[str]:
    for page_id, path in tx.each("select id, path from pages"):
        try:
            spelled = page_path(path)
        except Invalid:
            spelled = None
        if spelled != path:
            yield f"page {page_id} has a path that no page may have"


def _sources(tx: ReadTx) -> Iterator[str]:
    expected: dict[str, str | None] = {}  # by path; pages above come first
    for page_id, path, access, source_id in tx.each("select id, path, access, source_id from pages order by path"):
        above = next((expected[higher] for higher in paths_above(path) if higher in expected), None)
        expected[path] = page_id if access == "explicit" else above
        if source_id != expected[path]:
            yield f"page {page_id} takes its grants from the wrong page"


def _grants(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select g.page_id, g.grantee from page_grants g join pages p on p.id = g.page_id
        where p.access <> 'explicit' or (g.grantee <> 'everyone' and g.grantee not in (select id from users))
        """
    )
    return [f"page {page_id} has a grant to {grantee} that means nothing" for page_id, grantee in rows]


def _owners(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        "select id from pages where owner_id is not null and owner_id not in (select id from users) order by id"
    )
    return [f"page {page_id} belongs to somebody who is not there" for (page_id,) in rows]


def _revisions(tx: ReadTx) -> Iterable[str]:
    rows = tx.all(
        """
        select p.id from pages p where not exists (
            select 1 from page_revisions r where r.page_id = p.id and r.revision = p.revision and r.title = p.title
        ) or p.revision <> (select count(*) from page_revisions r where r.page_id = p.id)
            or p.revision <> (select max(revision) from page_revisions r where r.page_id = p.id)
        """
    )
    return [f"page {page_id} does not show its newest revision, or misses one" for (page_id,) in rows]


def _references(tx: ReadTx) -> Iterator[str]:
    bodies = tx.each(
        "select p.id, r.body from pages p join page_revisions r on r.page_id = p.id and r.revision = p.revision"
    )
    for page_id, body in bodies:
        links = {path for (path,) in tx.all("select target_path from page_links where page_id = :id", id=page_id)}
        files = {file_id for (file_id,) in tx.all("select file_id from page_files where page_id = :id", id=page_id)}
        if links != pages_in(body):
            yield f"page {page_id} is kept to link to other pages than its text does"
        if files - files_in(body):
            yield f"page {page_id} opens a file that its text does not show"


def _trash(tx: ReadTx) -> Iterator[str]:
    """Pages in the trash can come back: each has its revisions, and no live page has its id."""
    rows = tx.all(
        """
        select t.id from page_trash t where t.id in (select id from pages)
            or t.revision <> (select count(*) from page_trash_revisions r where r.page_id = t.id)
            or not exists (select 1 from page_trash_revisions r where r.page_id = t.id and r.revision = t.revision)
        """
    )
    for (page_id,) in rows:
        yield f"page {page_id} in the trash misses a revision, or is no deleted page"


def _search(tx: ReadTx) -> Iterator[str]:
    rows = tx.all(
        """
        select p.id from pages p where p.id not in (select page_id from page_search)
            and p.id not in (select page_id from page_search_queue)
        union all
        select page_id from page_search where page_id not in (select id from pages)
            and page_id not in (select page_id from page_search_queue)
        union all
        select page_id from page_search where id not in (select id from page_search_fts_docsize)
        """
    )
    for (page_id,) in rows:
        yield f"page {page_id} can't be found, or is found and gone"


INVARIANTS = (
    Invariant(name="a page's path is spelled in one way", check=_paths),
    Invariant(name="a page's grants come from the nearest explicit page", check=_sources),
    Invariant(name="a grant is on an explicit page and to a user", check=_grants),
    Invariant(name="a page's owner is a user", check=_owners),
    Invariant(name="a page shows its newest revision", check=_revisions),
    Invariant(name="a page's links and files are those of its text", check=_references),
    Invariant(name="search knows every page", check=_search),
    Invariant(name="a page in the trash can come back", check=_trash),
)
