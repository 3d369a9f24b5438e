"""Queries of pages, their revisions and grants. Those that take a principal check in their ``where`` what they may read
or write (``access.py``); the others are for the service itself, or come after that check.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast

from svc.pages.access import READABLE, WRITABLE, who
from svc.pages.model import (
    MAX_LISTED_BACKLINKS,
    MAX_LISTED_PAGES,
    MAX_LISTED_REVISIONS,
    Access,
    Grant,
    Kind,
    Level,
    Page,
    Revision,
    paths_above,
)
from svc.principal import Principal
from svc.store import ReadTx, Row, json_array

_PAGE: Final = f"""
    p.id, p.path, p.title, p.kind, p.owner_id, p.access, p.source_id, p.revision, p.updated_at, {WRITABLE}
"""
BELOW: Final = "p.path > :path || '/' and p.path < :path || '0'"
"""The pages below ``:path``; ``0`` comes right after ``/``."""
SUBTREE: Final = f"(p.path = :path or ({BELOW}))"

SHOWN_BY: Final = 3  # pages that are listed for one file
_STEP: Final = 16  # rows of a tree that are read at once


def readable_page(tx: ReadTx, principal: Principal, path: str) -> Page | None:
    """The page at ``path`` (as spelled by :func:`page_path`), if the caller may read it."""
    row = tx.one(f"select {_PAGE} from pages p where p.path = :path and {READABLE}", path=path, **who(principal))
    return None if row is None else _page(row)


def readable_titles(tx: ReadTx, principal: Principal, page_ids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """``(path, title)`` by page id, of those pages that the caller may read."""
    rows = tx.all(
        f"""
        select p.id, p.path, p.title from pages p
        where p.id in (select value from json_each(:ids)) and {READABLE}
        """,
        ids=json_array(page_ids),
        **who(principal),
    )
    return {str(page_id): (str(path), str(title)) for page_id, path, title in rows}


def file_is_readable_through_a_page(tx: ReadTx, principal: Principal, file_id: str) -> bool:
    """Whether a page that the caller may read shows the file, and was given it by a writer who could read the file."""
    found = tx.value(
        f"""
        select 1 from page_files f join pages p on p.id = f.page_id
        where f.file_id = :file_id and {READABLE} limit 1
        """,
        file_id=file_id,
        **who(principal),
    )
    return found is not None


def first_file_readable_through_a_page(tx: ReadTx, principal: Principal, file_ids: Iterable[str]) -> str | None:
    """The first of these files for which that is true: one statement, however many there are, even for none."""
    found = tx.value(
        f"""
        select f.file_id from json_each(:ids) wanted
        join page_files f on f.file_id = wanted.value join pages p on p.id = f.page_id
        where {READABLE} order by wanted.key limit 1
        """,
        ids=json_array(file_ids),
        **who(principal),
    )
    return cast("str | None", found)


def pages_that_show(tx: ReadTx, principal: Principal, file_ids: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """By file, ``(path, title)`` of the pages that show it and that the caller may read: the first few of each."""
    rows = tx.all(
        f"""
        select file_id, path, title from (
            select f.file_id, p.path, p.title, row_number() over (partition by f.file_id order by p.path) as place
            from page_files f join pages p on p.id = f.page_id
            where f.file_id in (select value from json_each(:ids)) and {READABLE}
        ) where place <= :most order by file_id, place
        """,
        ids=json_array(file_ids),
        most=SHOWN_BY,
        **who(principal),
    )
    found: dict[str, list[tuple[str, str]]] = {}
    for file_id, path, title in rows:
        found.setdefault(str(file_id), []).append((str(path), str(title)))
    return found


def files_on_readable_pages(tx: ReadTx, principal: Principal, *, most: int) -> list[str]:
    """The files that are shown by pages which the caller may read; looks at ``most`` mentions at most."""
    rows = tx.all(
        f"""
        select distinct f.file_id from (select file_id, page_id from page_files limit :most) f
        join pages p on p.id = f.page_id where {READABLE}
        """,
        most=most,
        **who(principal),
    )
    return [str(file_id) for (file_id,) in rows]


def tree(tx: ReadTx, principal: Principal, top: str | None) -> list[tuple[Page, bool]]:
    """The readable pages directly below ``top`` (or at the top), and whether each has readable pages below it.

    A page whose parent is missing, or hidden from the caller, is listed under the nearest page above that they see. The
    query skips what is below a listed page after a few rows: the cost depends on what is listed, not on the whole tree.
    """
    shown: dict[str, Page] = {}
    with_children: set[str] = set()
    start = "" if top is None else f"{top}/"
    end = None if top is None else f"{top}0"
    while len(shown) < MAX_LISTED_PAGES:
        rows = _readable_from(tx, principal, start=start, end=end)
        above = None
        for page in rows:  # an ancestor comes before its descendants
            above = next((path for path in paths_above(page.path) if path in shown), None)
            if above is None:
                shown[page.path] = page
            else:
                with_children.add(above)
        if len(rows) < _STEP:
            break
        # No path has a control character: nothing lies between the last row and this start.
        start = f"{rows[-1].path}\x01" if above is None else f"{above}0"
    return [(page, path in with_children) for path, page in shown.items()][:MAX_LISTED_PAGES]


def _readable_from(tx: ReadTx, principal: Principal, *, start: str, end: str | None) -> list[Page]:
    place = "p.path >= :start" if end is None else "p.path >= :start and p.path < :end"
    rows = tx.all(
        f"select {_PAGE} from pages p where {place} and {READABLE} order by p.path limit {_STEP}",
        start=start,
        end=end,
        **who(principal),
    )
    return [_page(row) for row in rows]


def exists(tx: ReadTx, path: str) -> bool:
    """Whether a page exists, even one that the caller may not read. Not for answers; only to check where a page
    may go."""
    return tx.value("select 1 from pages where path = :path", path=path) is not None


def has_below(tx: ReadTx, path: str) -> bool:
    return tx.value(f"select 1 from pages p where {BELOW} limit 1", path=path) is not None


def nearest_above(tx: ReadTx, path: str) -> tuple[str, str | None] | None:
    """``(path, source_id)`` of the nearest page above, even one that the caller may not read."""
    row = tx.one(
        """
        select path, source_id from pages where path in (select value from json_each(:above))
        order by length(path) desc limit 1
        """,
        above=json_array(paths_above(path)),
    )
    return None if row is None else (str(row[0]), cast("str | None", row[1]))


def unwritable_below(tx: ReadTx, principal: Principal, path: str) -> bool:
    """Whether there is a page below that the caller may not write."""
    found = tx.value(
        f"select 1 from pages p where {BELOW} and not ifnull({WRITABLE}, 0) limit 1", path=path, **who(principal)
    )
    return found is not None


def paths_of_others(tx: ReadTx, principal: Principal, path: str) -> list[str]:
    """The paths of the page and those below it, without the caller's own."""
    found = tx.all(
        f"select p.path from pages p where {SUBTREE} and p.owner_id is not :user_id and not :everything",
        path=path,
        **who(principal),
    )
    return [str(one) for (one,) in found]


def owner_of(tx: ReadTx, path: str) -> str | None:
    return cast("str | None", tx.value("select owner_id from pages where path = :path", path=path))


def unshared_of_others_below(tx: ReadTx, principal: Principal, path: str) -> bool:
    """Whether a page of another user is below that no page above shares: it was made while nothing was above it."""
    found = tx.value(
        f"""
        select 1 from pages p
        where {BELOW} and p.source_id is null and p.owner_id is not :user_id and not :everything limit 1
        """,
        path=path,
        **who(principal),
    )
    return found is not None


def subtree_size(tx: ReadTx, path: str) -> int:
    return int(tx.value(f"select count(*) from pages p where {SUBTREE}", path=path))


def readable_below(tx: ReadTx, principal: Principal, path: str) -> list[Page]:
    """Every page below that the caller may read, by its path."""
    rows = tx.all(
        f"select {_PAGE} from pages p where {BELOW} and {READABLE} order by p.path", path=path, **who(principal)
    )
    return [_page(row) for row in rows]


def subtree_paths(tx: ReadTx, path: str) -> list[str]:
    return [str(one) for (one,) in tx.all(f"select p.path from pages p where {SUBTREE}", path=path)]


def first_taken(tx: ReadTx, paths: Iterable[str]) -> str | None:
    """The first of these paths with a page, even one that the caller may not read."""
    found = tx.value(
        "select path from pages where path in (select value from json_each(:paths)) order by path limit 1",
        paths=json_array(paths),
    )
    return cast("str | None", found)


def body(tx: ReadTx, *, page_id: str, revision: int) -> str:
    return str(_revision_row(tx, page_id=page_id, revision=revision)[1])


def revision_exists(tx: ReadTx, *, page_id: str, revision: int) -> bool:
    found = tx.value(
        "select 1 from page_revisions where page_id = :id and revision = :revision", id=page_id, revision=revision
    )
    return found is not None


def revision_text(tx: ReadTx, *, page_id: str, revision: int) -> tuple[str, str]:
    """Title and body of a revision that exists."""
    row = _revision_row(tx, page_id=page_id, revision=revision)
    return str(row[0]), str(row[1])


def history(tx: ReadTx, page_id: str) -> list[Revision]:
    """The newest revisions, newest first."""
    rows = tx.all(
        """
        select r.revision, r.title, r.author_id, u.name, r.device_id, r.at
        from page_revisions r left join users u on u.id = r.author_id
        where r.page_id = :id order by r.revision desc limit :most
        """,
        id=page_id,
        most=MAX_LISTED_REVISIONS,
    )
    return [
        Revision(
            revision=cast(int, row[0]),
            title=cast(str, row[1]),
            author_id=cast("str | None", row[2]),
            author_name=cast("str | None", row[3]),
            device_id=cast(str, row[4]),
            at=cast(int, row[5]),
        )
        for row in rows
    ]


def backlinks(tx: ReadTx, principal: Principal, path: str) -> list[tuple[str, str]]:
    """``(path, title)`` of the readable pages whose current body names ``path``; not the page itself."""
    rows = tx.all(
        f"""
        select p.path, p.title from page_links l join pages p on p.id = l.page_id
        where l.target_path = :path and p.path <> :path and {READABLE} order by p.path limit :most
        """,
        path=path,
        most=MAX_LISTED_BACKLINKS,
        **who(principal),
    )
    return [(str(path), str(title)) for path, title in rows]


def grants(tx: ReadTx, page_id: str) -> list[Grant]:
    rows = tx.all("select grantee, level from page_grants where page_id = :id order by grantee", id=page_id)
    return [Grant(to=str(to), level=cast(Level, level)) for to, level in rows]


def user_names(tx: ReadTx, user_ids: Iterable[str]) -> dict[str, str]:
    """The names of those users who exist."""
    rows = tx.all(
        "select id, name from users where id in (select value from json_each(:ids))", ids=json_array(user_ids)
    )
    return {str(user_id): str(name) for user_id, name in rows}


def _revision_row(tx: ReadTx, *, page_id: str, revision: int) -> Row:
    row = tx.one(
        "select title, body from page_revisions where page_id = :id and revision = :revision",
        id=page_id,
        revision=revision,
    )
    assert row is not None, f"revision {revision} of page {page_id} is gone"
    return row


def _page(row: Row) -> Page:
    return Page(
        id=cast(str, row[0]),
        path=cast(str, row[1]),
        title=cast(str, row[2]),
        kind=cast(Kind, row[3]),
        owner_id=cast("str | None", row[4]),
        access=cast(Access, row[5]),
        source_id=cast("str | None", row[6]),
        revision=cast(int, row[7]),
        updated_at=cast(int, row[8]),
        can_write=bool(row[9]),
    )
