"""Managed pages: they are also files in a git repository, and a loop of the service, their manager, keeps both the
same.

Owns the tables ``page_managers`` and ``page_managed``. If the manager allows it, people may change its pages here, and
each change is an edit (``edits.py``), which the manager repeats in the repository. If not, nobody else may change its
pages.

A page that is made below a managed one and inherits its access is managed too. One with its own access, or with no
managed page above it, exists only here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from svc.clock import Millis
from svc.errors import Forbidden
from svc.pages import news
from svc.pages.model import paths_above
from svc.pages.queries import SUBTREE
from svc.principal import Principal
from svc.store import ReadTx, Tx, json_array, texts_of

READONLY: Final = "It follows a git repository, and is changed there."


@dataclass(frozen=True, kw_only=True)
class Managed:
    """``author`` and ``at``: of the commit that last changed the file, if known."""

    file: str
    commit: str
    url: str | None
    author: str | None
    at: Millis | None
    tags: tuple[str, ...]
    editable: bool
    in_conflict: bool


@dataclass(frozen=True, kw_only=True)
class ManagedFile:
    """The arguments of :func:`manage` for one page."""

    page_id: str
    file: str
    commit: str
    url: str | None
    author: str | None = None
    at: Millis | None = None
    tags: Sequence[str] | None = None


# For the manager


def set_manager(tx: Tx, manager: Principal, *, editable: bool) -> None:
    """Add or update a manager. ``editable``: people may change its pages here."""
    tx.run(
        """
        insert into page_managers (id, editable) values (:id, :editable)
        on conflict (id) do update set editable = excluded.editable
        """,
        id=manager.device_id,
        editable=int(editable),
    )


def forget_manager(tx: Tx, manager: Principal) -> None:
    """Remove the manager. Its pages stay and are ordinary pages."""
    tx.run("delete from page_managers where id = :id", id=manager.device_id)
    tx.run("update page_trash set manager_id = null where manager_id = :id", id=manager.device_id)


def manage(
    tx: Tx,
    manager: Principal,
    page_id: str,
    *,
    file: str,
    commit: str,
    url: str | None,
    author: str | None = None,
    at: Millis | None = None,
    tags: Sequence[str] | None = None,
) -> None:
    """Set the file and commit of a page. Without ``tags`` it keeps those it has."""
    one = ManagedFile(page_id=page_id, file=file, commit=commit, url=url, author=author, at=at, tags=tags)
    manage_all(tx, manager, [one])


def manage_all(tx: Tx, manager: Principal, files: Iterable[ManagedFile]) -> None:
    """:func:`manage` for each, by one statement."""
    tx.run_many(
        """
        insert into page_managed (page_id, manager_id, file, commit_id, url, author, at, tags)
        values (:page_id, :manager, :file, :commit, :url, :author, :at, coalesce(:tags, '[]'))
        on conflict (page_id) do update set manager_id = excluded.manager_id, file = excluded.file,
            commit_id = excluded.commit_id, url = excluded.url, author = excluded.author, at = excluded.at,
            tags = coalesce(:tags, page_managed.tags)
        """,
        (
            {
                "page_id": one.page_id,
                "manager": manager.device_id,
                "file": one.file,
                "commit": one.commit,
                "url": one.url,
                "author": one.author,
                "at": one.at,
                "tags": None if one.tags is None else json_array(one.tags),
            }
            for one in files
        ),
    )


def unmanage(tx: Tx, page_ids: Iterable[str]) -> None:
    tx.run("delete from page_managed where page_id in (select value from json_each(:ids))", ids=json_array(page_ids))


def set_in_conflict(tx: Tx, manager: Principal, page_id: str, in_conflict: bool) -> None:
    """Set whether a person has to choose between the version here and the one in the source. Readers of the page are
    told."""
    path = tx.value("select path from pages where id = :id", id=page_id)
    if path is None:
        return
    tx.run("update page_managed set in_conflict = :yes where page_id = :id", id=page_id, yes=int(in_conflict))
    news.tell(tx, manager, "page.changed", news.reach_of(tx, str(path), alone=True))


def managed(tx: ReadTx, page_id: str) -> Managed | None:
    """The page's file; ``None`` also while the source does not have it yet."""
    row = tx.one(
        """
        select d.file, d.commit_id, d.url, d.author, d.at, d.tags, m.editable, d.in_conflict
        from page_managed d join page_managers m on m.id = d.manager_id where d.page_id = :id and d.file is not null
        """,
        id=page_id,
    )
    if row is None:
        return None
    return Managed(
        file=row[0],
        commit=row[1],
        url=row[2],
        author=row[3],
        at=row[4],
        tags=tuple(texts_of(row[5])),
        editable=bool(row[6]),
        in_conflict=bool(row[7]),
    )


# For changes by people


def must_be_editable(tx: ReadTx, principal: Principal, path: str, *, below: bool = False) -> None:
    """Raise `Forbidden` if the page (or one ``below`` it) has a manager, other than the caller, that allows no
    changes."""
    place = SUBTREE if below else "p.path = :path"
    found = tx.value(
        f"""
        select 1 from pages p join page_managed d on d.page_id = p.id join page_managers m on m.id = d.manager_id
        where {place} and not m.editable and m.id <> :me limit 1
        """,
        path=path,
        me=principal.device_id,
    )
    if found is not None:
        raise Forbidden(READONLY)


def join(tx: Tx, principal: Principal, *, page_id: str, path: str) -> None:
    """Give a new page, which inherits its access, to the manager of the page above it, if there is an editable one."""
    tx.run(
        """
        insert into page_managed (page_id, manager_id)
        select :id, m.id from pages p join page_managed d on d.page_id = p.id
            join page_managers m on m.id = d.manager_id
        where p.id = (
            select a.id from pages a where a.path in (select value from json_each(:above)) order by length(a.path) desc
            limit 1
        ) and m.editable and m.id <> :me
        """,
        id=page_id,
        above=json_array(paths_above(path)),
        me=principal.device_id,
    )
