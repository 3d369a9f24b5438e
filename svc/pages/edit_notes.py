"""Records what people change in managed pages as edits, in the transaction of the change: see ``edits.py``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from svc.pages.edits import EditedPage, EditKind, insert, pages_now
from svc.pages.model import Page
from svc.pages.queries import SUBTREE
from svc.principal import Principal
from svc.store import ReadTx, Tx, json_array

Gone = dict[str, list[EditedPage]]
"""The pages that a move or deletion takes away, by manager."""


def note_saved(tx: Tx, principal: Principal, *, page_id: str, is_new: bool) -> None:
    _note(tx, principal, "save", pages_now(tx, [page_id], is_new=is_new), manager=_manager_of(tx, principal, page_id))


def note_access(tx: Tx, principal: Principal, page: Page) -> None:
    manager = _manager_of(tx, principal, page.id)
    if manager is None:
        return
    (after,) = pages_now(tx, [page.id], is_new=False)
    only = EditedPage(page_id=page.id, was_path=page.path, path=page.path, access=after.access, grants=after.grants)
    _note(tx, principal, "access", [only], manager=manager)


def in_subtree(tx: ReadTx, principal: Principal, path: str) -> Gone:
    """Before a move or deletion: the pages of other managers than the caller, by manager. Pass them to
    :func:`note_moved` or :func:`note_deleted`."""
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
    """Record that these pages came back from the trash. Those managed by a manager are new pages to it."""
    rows = tx.all(
        "select d.manager_id, d.page_id from page_managed d where d.page_id in (select value from json_each(:ids))",
        ids=json_array(page_ids),
    )
    for manager in sorted({manager for manager, _ in rows}):
        back = [page_id for whose, page_id in rows if whose == manager]
        _note(tx, principal, "undelete", pages_now(tx, back, is_new=True), manager=manager)


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


def _note(tx: Tx, principal: Principal, kind: EditKind, pages: Sequence[EditedPage], *, manager: str | None) -> None:
    if manager is not None and pages:
        insert(tx, kind, pages, manager=manager, by=principal.user_id)
