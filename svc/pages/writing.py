"""Writes a page's row and its text: revisions, and what the current text links to and shows.

Nothing here checks permissions; ``actions.py`` has done it before. ``tree.py`` owns the paths and whose grants apply.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from svc.ids import new_id
from svc.pages import news, queries
from svc.pages.access import READABLE, who
from svc.pages.links import files_in, pages_in
from svc.pages.model import Access, Kind, Page
from svc.principal import Principal
from svc.store import Tx, json_array


@dataclass(frozen=True, kw_only=True)
class Saved:
    id: str
    revision: int


def insert(
    tx: Tx,
    principal: Principal,
    *,
    path: str,
    title: str,
    body: str,
    owner_id: str | None,
    kind: Kind,
    access: Access = "inherited",
) -> str:
    page_id = new_id("pag")
    above = queries.nearest_above(tx, path) if access == "inherited" else None
    tx.run(
        """
        insert into pages (id, path, title, kind, owner_id, access, source_id, revision, created_at, updated_at)
        values (:id, :path, :title, :kind, :owner_id, :access, :source_id, 1, :now, :now)
        """,
        id=page_id,
        path=path,
        title=title,
        kind=kind,
        owner_id=owner_id,
        access=access,
        source_id=page_id if access == "explicit" else above and above[1],
        now=tx.now,
    )
    _store_text(tx, principal, page_id=page_id, revision=1, title=title, body=body)
    return page_id


def revise(
    tx: Tx, principal: Principal, page: Page, *, title: str, body: str, restored_from: int | None = None
) -> Saved:
    """``restored_from``: the older revision that this text is of."""
    if (title, body) == queries.revision_text(tx, page_id=page.id, revision=page.revision):
        return Saved(id=page.id, revision=page.revision)
    revision = page.revision + 1
    tx.run(
        "update pages set title = :title, revision = :revision, updated_at = :now where id = :id",
        id=page.id,
        title=title,
        revision=revision,
        now=tx.now,
    )
    _store_text(tx, principal, page_id=page.id, revision=revision, title=title, body=body, restored_from=restored_from)
    news.tell(tx, principal, "page.changed", news.reach_of(tx, page.path, alone=True))
    return Saved(id=page.id, revision=revision)


def _store_text(
    tx: Tx,
    principal: Principal,
    *,
    page_id: str,
    revision: int,
    title: str,
    body: str,
    restored_from: int | None = None,
) -> None:
    tx.run(
        """
        insert into page_revisions (page_id, revision, title, author_id, device_id, at, body, restored_from)
        values (:id, :revision, :title, :author_id, :device_id, :now, :body, :restored_from)
        """,
        id=page_id,
        revision=revision,
        title=title,
        author_id=principal.user_id,
        device_id=principal.device_id,
        now=tx.now,
        body=body,
        restored_from=restored_from,
    )
    links, files = pages_in(body), files_in(body)
    if revision == 1 and not links and not files:
        return  # nothing to replace either: thousands of such pages come with a mailbox
    link_to(tx, page_id=page_id, links=links)
    _refer_to_files(tx, principal, page_id=page_id, file_ids=json_array(files))


def link_to(tx: Tx, *, page_id: str, links: Set[str]) -> None:
    """Store which pages the page's text links to."""
    tx.run("delete from page_links where page_id = :id", id=page_id)
    tx.run(
        "insert into page_links (target_path, page_id) select value, :id from json_each(:paths)",
        id=page_id,
        paths=json_array(links),
    )


def _refer_to_files(tx: Tx, principal: Principal, *, page_id: str, file_ids: str) -> None:
    """Store which files the page shows. A new one counts only if the writer may read it: else anybody who knows a
    file's id could read it by naming it in a page of their own. A manager writes text of strangers, so no new file
    counts for it."""
    tx.run(
        "delete from page_files where page_id = :id and file_id not in (select value from json_each(:files))",
        id=page_id,
        files=file_ids,
    )
    tx.run(
        f"""
        insert into page_files (file_id, page_id)
        select f.id, :id from files f
        where f.id in (select value from json_each(:files)) and (
            :everything or f.owner_id = :user_id or exists (
                select 1 from page_files o join pages p on p.id = o.page_id where o.file_id = f.id and {READABLE}
            )
        ) and not exists (select 1 from page_managers m where m.id = :me)
        on conflict do nothing
        """,
        id=page_id,
        files=file_ids,
        me=principal.device_id,
        **who(principal),
    )
