"""The outbox of managed pages: what people changed here, kept until the manager has done it where the pages live too.

Owns the tables ``page_edits`` and ``page_edit_pages``. An edit is written in the transaction of the change, holds all
that carrying it out takes, and says nothing of what it left as it was. What the manager itself changes is no edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import msgspec

from svc.clock import Millis
from svc.ids import new_id
from svc.pages.model import Access, Page
from svc.pages.queries import SUBTREE
from svc.principal import Principal
from svc.store import ReadTx, Tx, json_array

EditKind = Literal["save", "move", "delete", "access", "undelete"]
Grants = tuple[tuple[str, str], ...]
"""``(address or everyone, level)``."""
Gone = dict[str, list["EditedPage"]]
"""Pages that a move or deletion takes from where they are, by manager."""


@dataclass(frozen=True, kw_only=True)
class EditedPage:
    """One page of an edit. ``was_path`` is ``None`` for a new page, ``path`` for a deleted one; other fields for what
    the edit leaves as it was."""

    page_id: str
    was_path: str | None
    path: str | None
    title: str | None = None
    body: str | None = None
    access: Access | None = None
    grants: Grants | None = None


@dataclass(frozen=True, kw_only=True)
class Edit:
    """``id`` names it for ever; ``seq`` gives the order."""

    seq: int
    id: str
    kind: EditKind
    author_id: str | None
    at: Millis
    pages: tuple[EditedPage, ...]


# For the manager


def waiting_edits(tx: ReadTx, manager: Principal, *, most: int) -> list[Edit]:
    """The oldest edits that are not carried out, in their order."""
    rows = tx.all(
        """
        select e.seq, e.id, e.kind, e.author_id, e.at, p.page_id, p.was_path, p.path, p.title, p.body, p.access,
            p.grants
        from (select * from page_edits where manager_id = :manager order by seq limit :most) e
            join page_edit_pages p on p.seq = e.seq
        order by e.seq, p.page_id
        """,
        manager=manager.device_id,
        most=most,
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
    """The pages that the manager must not change before it has carried their edits out."""
    rows = tx.all(
        "select distinct p.page_id from page_edits e join page_edit_pages p on p.seq = e.seq where e.manager_id = :id",
        id=manager.device_id,
    )
    return {str(page_id) for (page_id,) in rows}


def carried_out(tx: Tx, manager: Principal, *, seq: int, page_ids: Iterable[str]) -> None:
    """These pages of the edit are done there, or given up; the edit goes with the last of them."""
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


# For who changes pages


def note_saved(tx: Tx, principal: Principal, *, page_id: str, is_new: bool) -> None:
    _note(tx, principal, "save", _now(tx, [page_id], is_new=is_new), manager=_manager_of(tx, principal, page_id))


def note_access(tx: Tx, principal: Principal, page: Page) -> None:
    manager = _manager_of(tx, principal, page.id)
    if manager is None:
        return
    (after,) = _now(tx, [page.id], is_new=False)
    only = EditedPage(page_id=page.id, was_path=page.path, path=page.path, access=after.access, grants=after.grants)
    _note(tx, principal, "access", [only], manager=manager)


def in_subtree(tx: ReadTx, principal: Principal, path: str) -> Gone:
    """Before a move or deletion: by manager, the pages of others than the caller, to be told to :func:`note_gone`."""
    rows = tx.all(
        f"""
        select d.manager_id, p.id, p.path from pages p join page_managed d on d.page_id = p.id
        where {SUBTREE} and d.manager_id <> :me order by p.path
        """,
        path=path,
        me=principal.device_id,
    )
    found: Gone = {}
    for manager, page_id, page_path in rows:
        found.setdefault(manager, []).append(EditedPage(page_id=page_id, was_path=page_path, path=None))
    return found


def note_deleted(tx: Tx, principal: Principal, before: Gone) -> None:
    for manager, pages in before.items():
        _note(tx, principal, "delete", pages, manager=manager)


def note_moved(tx: Tx, principal: Principal, before: Gone, *, top: str, to: str) -> None:
    for manager, pages in before.items():
        moved = [
            EditedPage(page_id=page.page_id, was_path=page.was_path, path=to + page.was_path.removeprefix(top))
            for page in pages
            if page.was_path is not None
        ]
        _note(tx, principal, "move", moved, manager=manager)


def note_undeleted(tx: Tx, principal: Principal, page_ids: Sequence[str]) -> None:
    """Those of the pages that a manager's trash rows named are its own again, and new there."""
    rows = tx.all(
        "select d.manager_id, d.page_id from page_managed d where d.page_id in (select value from json_each(:ids))",
        ids=json_array(page_ids),
    )
    for manager in sorted({manager for manager, _ in rows}):
        back = [page_id for whose, page_id in rows if whose == manager]
        _note(tx, principal, "undelete", _now(tx, back, is_new=True), manager=manager)


def _manager_of(tx: ReadTx, principal: Principal, page_id: str) -> str | None:
    found = tx.value(
        """
        select m.id from page_managed d join page_managers m on m.id = d.manager_id
        where d.page_id = :id and m.editable and m.id <> :me
        """,
        id=page_id,
        me=principal.device_id,
    )
    return cast("str | None", found)


def _now(tx: ReadTx, page_ids: Sequence[str], *, is_new: bool) -> list[EditedPage]:
    """The pages as they are."""
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


def _note(tx: Tx, principal: Principal, kind: EditKind, pages: Sequence[EditedPage], *, manager: str | None) -> None:
    if manager is None or not pages:
        return
    tx.run(
        """
        insert into page_edits (id, manager_id, kind, author_id, at) values (:id, :manager, :kind, :author_id, :now)
        """,
        id=new_id("edt"),
        manager=manager,
        kind=kind,
        author_id=principal.user_id,
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
