"""The tables of gitops."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("gitops")


@MIGRATIONS(name="m001_following")
def m001_following(db: Database) -> None:
    for statement in _FOLLOWING:
        db.execute(statement)


_FOLLOWING = (
    """
    create table gitops_state (         -- one row, after a repository was followed
        id integer primary key check (id = 1),
        source text not null,           -- repository, branch and folder; the rest of the row is about them only
        reading integer not null,       -- the version of our own parser
        commit_id text,                 -- the commit that the pages here come from
        synced_at integer,
        added integer not null default 0,
        changed integer not null default 0,
        removed integer not null default 0,
        was_forced integer not null default 0,      -- the branch was force-pushed
        plugins text,                   -- plugins.json of that commit
        checked_at integer,             -- when the remote answered last
        problem text,                   -- of the last try, in words for an admin; null: it succeeded
        problem_kind text,
        problem_at integer              -- since when
    ) strict
    """,
    """
    create table gitops_files (         -- files of the repository that are, or should be, pages or files here
        file text primary key,          -- relative to the followed folder: pages/a/b.md
        kind text not null check (kind in ('page', 'file', 'other')),
        page_id text unique,            -- null: not a page here yet; the page may be deleted
        file_id text unique,            -- of a file that is not a page
        path text,                      -- of the page, by the file's name
        blob text,                      -- the blob whose text the page has; null: none yet
        seen_blob text not null,        -- the blob in the newest tree; not `blob` while it can't be read
        commit_id text,
        author text,
        author_address text,
        committed_at integer,
        digest text not null default '',            -- of everything the page was given; empty: read it again
        strangers text not null default '[]',       -- JSON: addresses in grants that no user here has
        problem text,
        line integer
    ) strict, without rowid
    """,
    "create index gitops_files_problem on gitops_files (file) where problem is not null",
)


@MIGRATIONS(name="m002_conflicts")
def m002_conflicts(db: Database) -> None:
    for statement in _CONFLICTS:
        db.execute(statement)


_CONFLICTS = (
    """
    create table gitops_conflicts (     -- pages whose waiting edits can't be applied before a person chooses a version
        page_id text primary key,
        file text not null,
        reason text not null,
        is_clash integer not null,      -- another file has the page's place
        there_blob text,                -- of the file in the repository; null: it is deleted
        there_text text,
        seq integer not null,           -- the page's newest waiting edit when the conflict was found
        at integer not null
    ) strict
    """,
)
