"""The rows of gitops: the state of each file here, and of the following. Only statements; nothing is decided here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from svc.clock import Millis
from svc.gitops.model import MAX_PROBLEMS, READING, TOPIC, Kind, Known, Problem
from svc.gitops.naming import PLUGINS
from svc.gitops.planning import file_address, page_address
from svc.store import EVERYONE, ReadTx, Tx, Value, json_array

_KNOWN: Final = """
    f.file, f.kind, f.page_id, f.file_id, f.path, f.blob, f.seen_blob, f.digest, p.title, f.problem, f.line
"""


@dataclass(frozen=True, kw_only=True)
class State:
    """``reading``: our :data:`READING` at that time. ``problem``: of the last look; ``problem_at``: since when."""

    source: str
    reading: int
    commit: str | None
    synced_at: Millis | None
    added: int
    changed: int
    removed: int
    was_forced: bool
    plugins: str | None
    checked_at: Millis | None
    problem: str | None
    problem_kind: str | None
    problem_at: Millis | None


def known(tx: ReadTx, *, only: Iterable[str] | None = None) -> dict[str, Known]:
    """The known files by name: all, or ``only`` these. A page that has been deleted counts as no page."""
    which = "" if only is None else "and f.file in (select value from json_each(:only))"
    params: dict[str, Value] = {} if only is None else {"only": json_array(only)}
    rows = tx.all(
        f"""
        select {_KNOWN}, p.id from gitops_files f left join pages p on p.id = f.page_id
        where f.file <> :plugins {which} order by f.file
        """,
        plugins=PLUGINS,
        **params,
    )
    return {
        cast(str, row[0]): Known(
            file=row[0],
            kind=cast(Kind, row[1]),
            page_id=row[11],
            file_id=row[3],
            path=row[4],
            blob=row[5],
            seen_blob=row[6],
            digest=row[7] if row[2] == row[11] else "",
            title=row[8],
            problem=row[9],
            line=row[10],
        )
        for row in rows
    }


def file_ids(tx: ReadTx) -> set[str]:
    """The ids of the files besides pages."""
    return {cast(str, file_id) for (file_id,) in tx.all("select file_id from gitops_files where file_id is not null")}


def addresses(tx: ReadTx) -> dict[str, str]:
    """The addresses here, by file."""
    rows = tx.all(
        """
        select f.file, f.file_id, p.path from gitops_files f left join pages p on p.id = f.page_id
        where f.file_id is not null or p.id is not null
        """
    )
    return {file: page_address(path) if file_id is None else file_address(file_id) for file, file_id, path in rows}


def state(tx: ReadTx) -> State | None:
    row = tx.one(
        """
        select source, reading, commit_id, synced_at, added, changed, removed, was_forced, plugins, checked_at,
            problem, problem_kind, problem_at
        from gitops_state where id = 1
        """
    )
    if row is None:
        return None
    return State(
        source=row[0],
        reading=row[1],
        commit=row[2],
        synced_at=row[3],
        added=row[4],
        changed=row[5],
        removed=row[6],
        was_forced=bool(row[7]),
        plugins=row[8],
        checked_at=row[9],
        problem=row[10],
        problem_kind=row[11],
        problem_at=row[12],
    )


def problems(tx: ReadTx) -> tuple[list[Problem], int]:
    """The first problems, by file, and the number of all."""
    rows = tx.all(
        """
        select file, problem, line from gitops_files where problem is not null order by file limit :most
        """,
        most=MAX_PROBLEMS,
    )
    count = tx.value("select count(*) from gitops_files where problem is not null")
    return [Problem(file=file, reason=reason, line=line) for file, reason, line in rows], cast(int, count)


def something_was_cleared(tx: ReadTx) -> bool:
    """Whether a cause outside of the repository is gone: a user now has an address that a grant names, a path is free,
    or a page was deleted here."""
    found = tx.value(
        """
        select 1 where exists (
            select 1 from gitops_files f, json_each(f.strangers) s join users u on u.email = s.value
        ) or exists (
            select 1 from gitops_files f where f.problem is not null and f.kind = 'page' and f.digest = ''
                and f.page_id is null and f.path is not null
                and not exists (select 1 from pages p where p.path = f.path)
        ) or exists (
            select 1 from gitops_files f where f.kind = 'page' and f.page_id is not null
                and not exists (select 1 from pages p where p.id = f.page_id)
        )
        """
    )
    return found is not None


def first_admin(tx: ReadTx) -> str | None:
    """The owner of the pages that come from the repository; ``None`` before the claim."""
    found = tx.value("select id from users where role = 'admin' order by created_at, id limit 1")
    return cast("str | None", found)


def users_by_address(tx: ReadTx, wanted: Iterable[str]) -> dict[str, str]:
    found = tx.all(
        "select email, id from users where email in (select value from json_each(:wanted))", wanted=json_array(wanted)
    )
    return {cast(str, address): cast(str, user_id) for address, user_id in found}


# Writing


def follow(tx: Tx, *, source: str) -> None:
    """Follow this repository, branch and folder from now on."""
    tx.run(
        """
        insert into gitops_state (id, source, reading) values (1, :source, :reading)
        on conflict (id) do update set source = excluded.source, commit_id = null, was_forced = 0
        where gitops_state.source <> excluded.source
        """,
        source=source,
        reading=READING,
    )


def leave(tx: Tx) -> None:
    """Stop following. The file rows stay, in case it is followed again."""
    tx.run("update gitops_files set digest = ''")
    tx.run("update gitops_state set commit_id = null, plugins = null, problem = null, problem_kind = null")


def answered(tx: Tx) -> None:
    """The remote was asked, and there was no error."""
    changed = tx.value("select problem from gitops_state") is not None
    tx.run(
        "update gitops_state set checked_at = :now, problem = null, problem_kind = null, problem_at = null", now=tx.now
    )
    if changed:
        tell(tx)


def went_wrong(tx: Tx, *, kind: str, words: str) -> None:
    tx.run(
        """
        update gitops_state set problem = :words, problem_kind = :kind,
            problem_at = iif(problem_kind is :kind, coalesce(problem_at, :now), :now)
        """,
        kind=kind,
        words=words,
        now=tx.now,
    )
    tell(tx)


def synced(
    tx: Tx, *, commit: str, added: int, changed: int, removed: int, was_forced: bool, plugins: str | None
) -> None:
    tx.run(
        """
        update gitops_state set commit_id = :commit, reading = :reading, synced_at = :now, checked_at = :now,
            added = :added, changed = :changed, removed = :removed, was_forced = :forced, plugins = :plugins
        """,
        commit=commit,
        reading=READING,
        now=tx.now,
        added=added,
        changed=changed,
        removed=removed,
        forced=int(was_forced),
        plugins=plugins,
    )
    tell(tx)


def put(tx: Tx, rows: Iterable[Mapping[str, Value]]) -> None:
    """Write whole rows, keyed by file."""
    tx.run_many(
        """
        insert into gitops_files (file, kind, page_id, file_id, path, blob, seen_blob, commit_id, author,
            author_address, committed_at, digest, strangers, problem, line)
        values (:file, :kind, :page_id, :file_id, :path, :blob, :seen_blob, :commit, :author, :address, :at, :digest,
            :strangers, :problem, :line)
        on conflict (file) do update set kind = excluded.kind, page_id = excluded.page_id, file_id = excluded.file_id,
            path = excluded.path, blob = excluded.blob, seen_blob = excluded.seen_blob,
            commit_id = coalesce(excluded.commit_id, gitops_files.commit_id),
            author = coalesce(excluded.author, gitops_files.author),
            author_address = coalesce(excluded.author_address, gitops_files.author_address),
            committed_at = coalesce(excluded.committed_at, gitops_files.committed_at),
            digest = excluded.digest, strangers = excluded.strangers, problem = excluded.problem, line = excluded.line
        """,
        rows,
    )


def note_plugins(tx: Tx, *, blob: str, problem: str | None) -> None:
    """``plugins.json`` has a row only while something is wrong with it."""
    forget(tx, [PLUGINS])
    if problem is not None:
        tx.run(
            """
            insert into gitops_files (file, kind, seen_blob, digest, problem)
            values (:file, 'other', :blob, '-', :problem)
            """,
            file=PLUGINS,
            blob=blob,
            problem=problem,
        )


def forget(tx: Tx, files: Iterable[str]) -> None:
    tx.run_many("delete from gitops_files where file = :file", [{"file": file} for file in files])


def tell(tx: Tx) -> None:
    """Emit that the status has changed. The event carries no data, so it may go to everybody."""
    tx.emit(topic=TOPIC, kind="gitops.changed", id=TOPIC, audience=EVERYONE)
