"""The trash: deleted pages with their history, grants and files, kept for 30 days in tables that nothing else reads.

A page and all below it are deleted together and restored together, with the same ids. Each owner can restore their own
part: an entry of the trash is a deleted page whose owner owns no page above it in the same deletion. Nothing here
checks permissions, except the two queries; ``actions.py`` has done it before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from svc.clock import DAY_MS, Millis
from svc.ids import new_id
from svc.pages import tree
from svc.pages.links import pages_in
from svc.pages.model import Access, Earlier, Grant, Page, page_body, page_path, page_title, paths_above
from svc.pages.queries import SUBTREE
from svc.pages.writing import link_to
from svc.principal import Principal
from svc.store import ReadTx, Row, Tx, json_array

KEEP_MS: Final = 30 * DAY_MS
MAX_LISTED: Final = 500
PURGED_AT_ONCE: Final = 200

_OWN: Final = "(:everything or t.owner_id = :user_id)"
_WITH_IT: Final = "(t.path = :path or (t.path > :path || '/' and t.path < :path || '0'))"


@dataclass(frozen=True, kw_only=True)
class Trashed:
    """A deleted page. ``goes_at``: when it is deleted for good."""

    id: str
    deletion_id: str
    path: str
    title: str
    deleted_at: Millis
    deleted_by: str | None

    @property
    def goes_at(self) -> Millis:
        return self.deleted_at + KEEP_MS


def put(tx: Tx, principal: Principal, page: Page, *, alone: bool = False) -> None:
    """Move the page into the trash, with all below it unless ``alone``."""
    deletion_id, place = new_id("del"), "p.path = :path" if alone else SUBTREE
    rows = tx.all(f"select p.id, p.path, p.owner_id from pages p where {place} order by p.path", path=page.path)
    tx.run(
        f"""
        insert into page_trash (
            id, deletion_id, is_top, path, title, owner_id, access, revision, created_at, updated_at, deleted_at,
            deleted_by, manager_id
        )
        select p.id, :deletion_id, p.id in (select value from json_each(:tops)), p.path, p.title, p.owner_id, p.access,
            p.revision, p.created_at, p.updated_at, :now, :user_id, (
                select d.manager_id from page_managed d where d.page_id = p.id and d.manager_id <> :me
            )
        from pages p where {place}
        """,
        deletion_id=deletion_id,
        tops=json_array(_tops(rows)),
        path=page.path,
        now=tx.now,
        user_id=principal.user_id,
        me=principal.device_id,
    )
    tx.run(
        f"""
        insert into page_trash_revisions (page_id, revision, title, author_id, device_id, at, body)
        select r.page_id, r.revision, r.title, r.author_id, r.device_id, r.at, r.body
        from pages p join page_revisions r on r.page_id = p.id where {place}
        """,
        path=page.path,
    )
    tx.run(
        f"""
        insert into page_trash_grants (page_id, grantee, level)
        select g.page_id, g.grantee, g.level from pages p join page_grants g on g.page_id = p.id where {place}
        """,
        path=page.path,
    )
    tx.run(
        f"""
        insert into page_trash_files (page_id, file_id)
        select f.page_id, f.file_id from pages p join page_files f on f.page_id = p.id where {place}
        """,
        path=page.path,
    )
    tx.run(f"delete from pages as p where {place}", path=page.path)


@dataclass(frozen=True, kw_only=True)
class Deleted:
    """A whole page from another home's trash. ``revisions``: the oldest first, the last is its text. ``grants`` and
    ``file_ids`` are those it had; pages restored together have the same ``deletion_id``."""

    id: str
    deletion_id: str
    is_top: bool
    path: str
    owner_id: str | None
    access: Access
    created_at: Millis
    updated_at: Millis
    deleted_at: Millis
    deleted_by: str | None
    revisions: Sequence[Earlier]
    grants: Sequence[Grant] = ()
    file_ids: Sequence[str] = ()


def bring_back_deleted(tx: Tx, principal: Principal, page: Deleted) -> None:
    """Add a page to the trash as it was in another home's. Repeating it changes nothing. Raises `Invalid`."""
    path, newest = page_path(page.path), page.revisions[-1]
    new = tx.run(
        """
        insert into page_trash (
            id, deletion_id, is_top, path, title, owner_id, access, revision, created_at, updated_at, deleted_at,
            deleted_by
        ) values (
            :id, :deletion_id, :is_top, :path, :title, :owner_id, :access, :revision, :created_at, :updated_at,
            :deleted_at, :deleted_by
        ) on conflict do nothing
        """,
        id=page.id,
        deletion_id=page.deletion_id,
        is_top=int(page.is_top),
        path=path,
        title=page_title(newest.title, path=path),
        owner_id=page.owner_id,
        access=page.access,
        revision=len(page.revisions),
        created_at=page.created_at,
        updated_at=page.updated_at,
        deleted_at=page.deleted_at,
        deleted_by=page.deleted_by,
    )
    if not new:
        return
    for revision, one in enumerate(page.revisions, 1):
        tx.run(
            """
            insert into page_trash_revisions (page_id, revision, title, author_id, device_id, at, body)
            values (:id, :revision, :title, :author_id, :device_id, :at, :body)
            """,
            id=page.id,
            revision=revision,
            title=page_title(one.title, path=path),
            author_id=one.author_id,
            device_id=principal.device_id,
            at=one.at,
            body=page_body(one.body),
        )
    for grant in page.grants:
        tx.run(
            "insert into page_trash_grants (page_id, grantee, level) values (:id, :to, :level)",
            id=page.id,
            to=grant.to,
            level=grant.level,
        )
    tx.run(
        "insert into page_trash_files (page_id, file_id) select distinct :id, value from json_each(:files)",
        id=page.id,
        files=json_array(page.file_ids),
    )


def listed(tx: ReadTx, principal: Principal) -> list[tuple[Trashed, int]]:
    """The caller's entries, the newest deletion first, each with the number of pages that are restored with it."""
    rows = tx.all(
        f"""
        select t.id, t.deletion_id, t.path, t.title, t.deleted_at, t.deleted_by, (
            select count(*) from page_trash w where w.deletion_id = t.deletion_id
                and w.path > t.path || '/' and w.path < t.path || '0'
        )
        from page_trash t where t.is_top = 1 and t.deleted_at > :oldest and {_OWN}
        order by t.deleted_at desc, t.path limit :most
        """,
        oldest=tx.now - KEEP_MS,
        most=MAX_LISTED,
        everything=int(principal.sees_everything),
        user_id=principal.user_id,
    )
    return [(_trashed(row), cast(int, row[6])) for row in rows]


def own(tx: ReadTx, principal: Principal, page_id: str) -> Trashed | None:
    """A page in the trash, if it is the caller's."""
    row = tx.one(
        f"""
        select t.id, t.deletion_id, t.path, t.title, t.deleted_at, t.deleted_by from page_trash t
        where t.id = :id and t.deleted_at > :oldest and {_OWN}
        """,
        id=page_id,
        oldest=tx.now - KEEP_MS,
        everything=int(principal.sees_everything),
        user_id=principal.user_id,
    )
    return None if row is None else _trashed(row)


def paths_of_others(tx: ReadTx, principal: Principal, page: Trashed) -> list[str]:
    """The old paths of the pages below that were deleted with the page and are not the caller's own."""
    found = tx.all(
        f"""
        select t.path from page_trash t
        where t.deletion_id = :deletion_id and {_WITH_IT} and t.owner_id is not :user_id and not :everything
        """,
        deletion_id=page.deletion_id,
        path=page.path,
        everything=int(principal.sees_everything),
        user_id=principal.user_id,
    )
    return [str(one) for (one,) in found]


def with_it(tx: ReadTx, page: Trashed) -> list[tuple[str, str, bool]]:
    """``(id, path, whether its access is explicit)`` of the page and of those deleted with it below it, by path."""
    rows = tx.all(
        f"""
        select t.id, t.path, t.access = 'explicit' from page_trash t
        where t.deletion_id = :deletion_id and {_WITH_IT} order by t.path
        """,
        deletion_id=page.deletion_id,
        path=page.path,
    )
    return [(str(page_id), str(path), bool(explicit)) for page_id, path, explicit in rows]


def take_out(tx: Tx, page: Trashed, *, to: str, page_ids: Sequence[str]) -> None:
    """Put ``page_ids``, the result of :func:`with_it`, back into the tree, the page itself at ``to``. All their paths
    must be free.

    A grant to a user who no longer exists is left out.
    """
    ids = json_array(page_ids)
    tx.run(
        """
        insert into pages (id, path, title, kind, owner_id, access, source_id, revision, created_at, updated_at)
        select id, :to || substr(path, length(:path) + 1), title, 'page', owner_id, access, null, revision, created_at,
            updated_at
        from page_trash where id in (select value from json_each(:ids))
        """,
        to=to,
        path=page.path,
        ids=ids,
    )
    tx.run(
        """
        insert into page_revisions (page_id, revision, title, author_id, device_id, at, body)
        select page_id, revision, title, author_id, device_id, at, body
        from page_trash_revisions where page_id in (select value from json_each(:ids))
        """,
        ids=ids,
    )
    tx.run(
        """
        insert into page_grants (page_id, grantee, level)
        select page_id, grantee, level from page_trash_grants where page_id in (select value from json_each(:ids))
            and (grantee = 'everyone' or grantee in (select id from users))
        """,
        ids=ids,
    )
    tx.run(
        """
        insert into page_files (file_id, page_id)
        select file_id, page_id from page_trash_files where page_id in (select value from json_each(:ids))
        """,
        ids=ids,
    )
    tx.run(
        """
        insert into page_managed (page_id, manager_id) select t.id, m.id from page_trash t
            join page_managers m on m.id = t.manager_id
        where m.editable and t.id in (select value from json_each(:ids))
        """,
        ids=ids,
    )
    _link_again(tx, ids)
    tree.settle_sources(tx, to)
    tx.run("delete from page_trash where id in (select value from json_each(:ids))", ids=ids)


def erase(tx: Tx, principal: Principal, page: Trashed) -> None:
    """Delete for good the page, and the caller's pages that were deleted with it below it. Others keep theirs."""
    rows = tx.all(
        f"select t.id from page_trash t where t.deletion_id = :deletion_id and {_WITH_IT} and {_OWN}",
        deletion_id=page.deletion_id,
        path=page.path,
        everything=int(principal.sees_everything),
        user_id=principal.user_id,
    )
    _erase(tx, rows)


def purge(tx: Tx) -> int:
    """Delete for good, in a bounded batch, pages whose time in the trash is over. Returns how many."""
    rows = tx.all(
        "select id from page_trash where deleted_at <= :oldest order by deleted_at limit :most",
        oldest=tx.now - KEEP_MS,
        most=PURGED_AT_ONCE,
    )
    _erase(tx, rows)
    return len(rows)


def _erase(tx: Tx, rows: Sequence[Row]) -> None:
    """Delete rows with their revisions, grants and mentions of files. A file that nothing mentions any more is deleted
    as any such file."""
    ids = json_array(str(page_id) for (page_id,) in rows)
    tx.run("delete from page_trash where id in (select value from json_each(:ids))", ids=ids)


def next_purge(tx: ReadTx) -> Millis | None:
    """When the oldest page is due for deletion."""
    oldest = tx.value("select min(deleted_at) from page_trash")
    return None if oldest is None else cast(Millis, oldest) + KEEP_MS


def hand_over(tx: Tx, user_id: str) -> None:
    """Give the first admin the pages that were deleted before the claim."""
    tx.run("update page_trash set owner_id = :user_id", user_id=user_id)


def _tops(rows: Sequence[Row]) -> list[str]:
    """The ids of the given pages whose owner owns none of the given pages above them. ``rows``: ``(id, path, owner)``,
    sorted so that each page follows the pages above it."""
    owners: dict[str, str | None] = {}
    tops = []
    for page_id, path, owner_id in rows:
        above = {owners[higher] for higher in paths_above(path) if higher in owners}
        if owner_id not in above:
            tops.append(str(page_id))
        owners[path] = owner_id
    return tops


def _link_again(tx: Tx, ids: str) -> None:
    bodies = tx.each(
        """
        select p.id, r.body from pages p join page_revisions r on r.page_id = p.id and r.revision = p.revision
        where p.id in (select value from json_each(:ids)) and instr(r.body, '/p/') + instr(r.body, '[[') > 0
        """,
        ids=ids,
    )
    for page_id, body in bodies:
        link_to(tx, page_id=page_id, links=pages_in(body))


def _trashed(row: Row) -> Trashed:
    return Trashed(
        id=cast(str, row[0]),
        deletion_id=cast(str, row[1]),
        path=cast(str, row[2]),
        title=cast(str, row[3]),
        deleted_at=cast(Millis, row[4]),
        deleted_by=cast("str | None", row[5]),
    )
