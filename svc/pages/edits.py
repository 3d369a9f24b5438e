"""The queue of edits to managed pages: what people changed here, kept until the manager has made the same change in its
source.

Owns the tables ``page_edits`` and ``page_edit_pages``. An edit is written in the transaction of the change. It holds
all that is needed to carry it out, and only the changed fields. A change by the manager itself is no edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import msgspec

from svc.clock import Millis
from svc.ids import new_id
from svc.pages.model import Access
from svc.principal import Principal
from svc.store import ReadTx, Tx, json_array

EditKind = Literal["save", "move", "delete", "access", "undelete"]
Grants = tuple[tuple[str, str], ...]
"""``(address or everyone, level)``."""
_ALL = -1  # no limit


@dataclass(frozen=True, kw_only=True)
class EditedPage:
    """One page of an edit. ``was_path`` is ``None`` for a new page, ``path`` for a deleted one; other fields where the
    edit leaves them unchanged."""

    page_id: str
    was_path: str | None
    path: str | None
    title: str | None = None
    body: str | None = None
    access: Access | None = None
    grants: Grants | None = None


@dataclass(frozen=True, kw_only=True)
class Edit:
    """``id`` is permanent; ``seq`` gives the order."""

    seq: int
    id: str
    kind: EditKind
    author_id: str | None
    at: Millis
    pages: tuple[EditedPage, ...]


# For the manager


def waiting_edits(tx: ReadTx, manager: Principal, *, most: int, but_of: Iterable[str] = ()) -> list[Edit]:
    """The oldest waiting edits, in order; without their changes to the pages ``but_of``."""
    rows = tx.all(
        """
        select e.seq, e.id, e.kind, e.author_id, e.at, p.page_id, p.was_path, p.path, p.title, p.body, p.access,
            p.grants
        from (
            select * from page_edits a where a.manager_id = :manager and exists (
                select 1 from page_edit_pages w
                where w.seq = a.seq and w.page_id not in (select value from json_each(:but_of))
            ) order by a.seq limit :most
        ) e join page_edit_pages p on p.seq = e.seq
        where p.page_id not in (select value from json_each(:but_of))
        order by e.seq, coalesce(p.was_path, p.path), p.page_id
        """,
        manager=manager.device_id,
        most=most,
        but_of=json_array(but_of),
    )
    found: dict[int, tuple[tuple[str, EditKind, str | None, Millis], list[EditedPage]]] = {}
    for seq, edit_id, kind, author_id, at, page_id, was_path, path, title, body, access, grants in rows:
        page = EditedPage(
            page_id=page_id,
            was_path=was_path,
            path=path,
            title=title,
            body=body,
            access=access,
            grants=None if grants is None else msgspec.json.decode(grants, type=Grants),
        )
        found.setdefault(seq, ((edit_id, kind, author_id, at), []))[1].append(page)
    return [
        Edit(seq=seq, id=edit_id, kind=kind, author_id=author_id, at=at, pages=tuple(pages))
        for seq, ((edit_id, kind, author_id, at), pages) in found.items()
    ]


def count_waiting(tx: ReadTx, manager: Principal) -> int:
    return int(tx.value("select count(*) from page_edits where manager_id = :manager", manager=manager.device_id))


def pages_with_waiting_edits(tx: ReadTx, manager: Principal) -> set[str]:
    """The pages that the manager must not change before it has carried out their edits."""
    rows = tx.all(
        "select distinct p.page_id from page_edits e join page_edit_pages p on p.seq = e.seq where e.manager_id = :id",
        id=manager.device_id,
    )
    return {str(page_id) for (page_id,) in rows}


def carried_out(tx: Tx, manager: Principal, *, seq: int, page_ids: Iterable[str]) -> None:
    """Mark these pages of the edit as carried out, or given up. With its last page the edit is deleted."""
    tx.run(
        "delete from page_edit_pages where seq = :seq and page_id in (select value from json_each(:ids))",
        seq=seq,
        ids=json_array(page_ids),
    )
    tx.run(
        """
        delete from page_edits where seq = :seq and manager_id = :manager
            and not exists (select 1 from page_edit_pages p where p.seq = page_edits.seq)
        """,
        seq=seq,
        manager=manager.device_id,
    )


def newest_waiting(tx: ReadTx, page_id: str) -> int:
    """The number of the page's newest waiting edit; 0 for none."""
    return int(tx.value("select coalesce(max(seq), 0) from page_edit_pages where page_id = :id", id=page_id))


def give_up(tx: Tx, manager: Principal, page_id: str) -> None:
    """Drop the waiting edits of this page."""
    for (seq,) in tx.all("select seq from page_edit_pages where page_id = :id", id=page_id):
        carried_out(tx, manager, seq=seq, page_ids=[page_id])


def as_one(tx: Tx, manager: Principal, page_id: str) -> None:
    """Merge the waiting edits of this page into one, by the author of the last."""
    waiting = [
        (edit, page) for edit in waiting_edits(tx, manager, most=_ALL) for page in edit.pages if page.page_id == page_id
    ]
    give_up(tx, manager, page_id)
    if not waiting:
        return
    (_, first), (last_edit, last) = waiting[0], waiting[-1]
    if first.was_path is None and last.path is None:
        return  # created and deleted again
    whole = EditedPage(page_id=page_id, was_path=first.was_path, path=last.path)
    for _, page in waiting:
        whole = EditedPage(
            page_id=page_id,
            was_path=whole.was_path,
            path=whole.path,
            title=whole.title if page.title is None else page.title,
            body=whole.body if page.body is None else page.body,
            access=whole.access if page.access is None else page.access,
            grants=whole.grants if page.grants is None else page.grants,
        )
    insert(tx, "delete" if last.path is None else "save", [whole], manager=manager.device_id, by=last_edit.author_id)


def note_whole(tx: Tx, principal: Principal, manager: Principal, page_id: str, *, was_path: str | None) -> None:
    """Record an edit that makes the source's page equal to the page here, by the principal. ``was_path``: ``None`` for
    a new one."""
    (now,) = pages_now(tx, [page_id], is_new=True)
    insert(tx, "save", [replace(now, was_path=was_path)], manager=manager.device_id, by=principal.user_id)


# For both


def pages_now(tx: ReadTx, page_ids: Sequence[str], *, is_new: bool) -> list[EditedPage]:
    """The current state of the pages."""
    rows = tx.all(
        """
        select p.id, p.path, p.title, r.body, p.access, (
            select json_group_array(json_array(coalesce(u.email, g.grantee), g.level))
            from page_grants g left join users u on u.id = g.grantee where g.page_id = p.id
        )
        from pages p join page_revisions r on r.page_id = p.id and r.revision = p.revision
        where p.id in (select value from json_each(:ids))
        """,
        ids=json_array(page_ids),
    )
    return [
        EditedPage(
            page_id=page_id,
            was_path=None if is_new else path,
            path=path,
            title=title,
            body=body,
            access=access,
            grants=tuple(sorted(msgspec.json.decode(grants, type=Grants))),
        )
        for page_id, path, title, body, access, grants in rows
    ]


def insert(tx: Tx, kind: EditKind, pages: Sequence[EditedPage], *, manager: str, by: str | None) -> None:
    tx.run(
        """
        insert into page_edits (id, manager_id, kind, author_id, at) values (:id, :manager, :kind, :author_id, :now)
        """,
        id=new_id("edt"),
        manager=manager,
        kind=kind,
        author_id=by,
        now=tx.now,
    )
    seq = int(tx.value("select last_insert_rowid()"))
    tx.run_many(
        """
        insert into page_edit_pages (seq, page_id, was_path, path, title, body, access, grants)
        values (:seq, :page_id, :was_path, :path, :title, :body, :access, :grants)
        """,
        [
            {
                "seq": seq,
                "page_id": page.page_id,
                "was_path": page.was_path,
                "path": page.path,
                "title": page.title,
                "body": page.body,
                "access": page.access,
                "grants": None if page.grants is None else msgspec.json.encode(page.grants).decode(),
            }
            for page in pages
        ],
    )
