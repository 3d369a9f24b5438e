"""Reads pages for their files, and the rows about written files. Statements only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from svc.clock import Millis
from svc.store import ReadTx, Tx, json_array
from svc.tools import page_mark


@dataclass(frozen=True, kw_only=True)
class FilePage:
    """A page with everything that its file contains. ``owner`` and grants are addresses, or ``everyone``.
    ``from_outside``: the mark of its text (:func:`svc.tools.page_mark`).
    """

    id: str
    path: str
    title: str
    owner: str | None
    access: str
    grants: tuple[tuple[str, str], ...]
    revision: int
    updated_at: Millis
    body: str
    from_outside: str | None = None


@dataclass(frozen=True, kw_only=True)
class Known:
    page_id: str
    file: str
    digest: str
    revision: int


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """``kept``: the copy beside the file, with the person's text."""

    file: str
    path: str
    kept: str | None
    reason: str
    at: Millis


def page_ids(tx: ReadTx) -> list[str]:
    """The ids of all pages, in the order of their paths."""
    return [str(page_id) for (page_id,) in tx.all("select id from pages order by path")]


def page_of(tx: ReadTx, page_id: str) -> FilePage | None:
    row = tx.one(
        """
        select p.id, p.path, p.title, u.email, p.access, p.revision, p.updated_at, r.body
        from pages p join page_revisions r on r.page_id = p.id and r.revision = p.revision
            left join users u on u.id = p.owner_id
        where p.id = :id
        """,
        id=page_id,
    )
    if row is None:
        return None
    grants = tx.all(
        """
        select coalesce(u.email, g.grantee), g.level from page_grants g left join users u on u.id = g.grantee
        where g.page_id = :id order by 1
        """,
        id=page_id,
    )
    return FilePage(
        id=row[0],
        path=row[1],
        title=row[2],
        owner=row[3],
        access=row[4],
        grants=tuple((str(to), str(level)) for to, level in grants),
        revision=row[5],
        updated_at=row[6],
        body=row[7],
        from_outside=page_mark(tx, page_id),
    )


def page_at(tx: ReadTx, path: str) -> str | None:
    return cast("str | None", tx.value("select id from pages where path = :path", path=path))


def first_admin(tx: ReadTx) -> str | None:
    found = tx.value("select id from users where role = 'admin' order by created_at, id limit 1")
    return cast("str | None", found)


def queued(tx: ReadTx, *, after: str, limit: int) -> list[str]:
    """The ids of pages whose files have to be written again, sorted."""
    rows = tx.all(
        "select page_id from okf_queue where page_id > :after order by page_id limit :limit", after=after, limit=limit
    )
    return [str(page_id) for (page_id,) in rows]


def known_page(tx: ReadTx, page_id: str) -> Known | None:
    return _known(tx, "page_id", page_id)


def known_file(tx: ReadTx, file: str) -> Known | None:
    return _known(tx, "file", file)


def _known(tx: ReadTx, column: str, value: str) -> Known | None:
    where = "page_id = :value" if column == "page_id" else "file = :value"
    row = tx.one(f"select page_id, file, digest, revision from okf_files where {where}", value=value)
    return None if row is None else Known(page_id=row[0], file=row[1], digest=row[2], revision=row[3])


def files(tx: ReadTx) -> dict[str, str]:
    """The digest of each file."""
    return {str(file): str(digest) for file, digest in tx.all("select file, digest from okf_files")}


def wrote(
    tx: Tx, page: FilePage | None, *, page_id: str, file: str = "", digest: str = "", problem: str | None = None
) -> None:
    """Records that the file was written from the page. If the page has changed since, it stays queued. ``page`` is
    ``None`` if it was deleted, with its file."""
    tx.run("delete from okf_files where page_id = :id or file = :file", id=page_id, file=file)
    if page is not None:
        tx.run(
            """
            insert into okf_files (page_id, file, digest, revision, problem)
            values (:id, :file, :digest, :revision, :problem)
            """,
            id=page_id,
            file=file,
            digest=digest,
            revision=page.revision,
            problem=problem,
        )
    if page == page_of(tx, page_id):
        tx.run("delete from okf_queue where page_id = :id", id=page_id)


def queue(tx: Tx, page_id: str) -> None:
    tx.run("insert into okf_queue (page_id) values (:id) on conflict do nothing", id=page_id)


def queue_files(tx: Tx, names: list[str]) -> None:
    """Queues the pages of these files, which are missing or have to be written again."""
    tx.run(
        """
        insert into okf_queue (page_id)
        select page_id from okf_files where file in (select value from json_each(:names)) on conflict do nothing
        """,
        names=json_array(names),
    )


def trouble(tx: Tx, *, file: str, path: str, kept: str | None, reason: str, digest: str) -> None:
    tx.run(
        """
        insert into okf_troubles (file, path, kept, reason, digest, at)
        values (:file, :path, :kept, :reason, :digest, :now)
        on conflict (file) do update set path = excluded.path, kept = excluded.kept, reason = excluded.reason,
            digest = excluded.digest, at = excluded.at
        """,
        file=file,
        path=path,
        kept=kept,
        reason=reason,
        digest=digest,
        now=tx.now,
    )


def no_trouble(tx: Tx, file: str) -> None:
    """Deletes the trouble of that file or that copy: it was deleted, or corrected."""
    tx.run("delete from okf_troubles where file = :file or kept = :file", file=file)


def is_told(tx: ReadTx, file: str, digest: str) -> bool:
    found = tx.value("select 1 from okf_troubles where file = :file and digest = :digest", file=file, digest=digest)
    return found is not None


def troubles(tx: ReadTx, *, limit: int) -> list[Trouble]:
    rows = tx.all("select file, path, kept, reason, at from okf_troubles order by at desc limit :limit", limit=limit)
    return [Trouble(file=row[0], path=row[1], kept=row[2], reason=row[3], at=row[4]) for row in rows]


def kept_copies(tx: ReadTx) -> list[str]:
    return [str(kept) for (kept,) in tx.all("select kept from okf_troubles where kept is not null")]


def unwritten(tx: ReadTx) -> list[tuple[str, str]]:
    """Pages that can't be written as a file, with the reason."""
    rows = tx.all(
        """
        select p.path, f.problem from okf_files f join pages p on p.id = f.page_id
        where f.problem is not null order by p.path
        """
    )
    return [(str(path), str(problem)) for path, problem in rows]


def count(tx: ReadTx) -> int:
    return cast(int, tx.value("select count(*) from okf_files where problem is null"))


def waiting(tx: ReadTx) -> int:
    return cast(int, tx.value("select count(*) from okf_queue"))
