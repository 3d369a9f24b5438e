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
    create table gitops_state (         -- one row, once something was followed
        id integer primary key check (id = 1),
        source text not null,           -- repository, branch and folder: of others nothing here says anything
        reading integer not null,       -- by which version of our own reading
        commit_id text,                 -- the one that the pages here are of
        synced_at integer,
        added integer not null default 0,
        changed integer not null default 0,
        removed integer not null default 0,
        was_forced integer not null default 0,      -- the branch was moved to where it had not been
        plugins text,                   -- plugins.json of that commit
        checked_at integer,             -- when the remote answered last
        problem text,                   -- of the last time, in words for an admin; null: it went well
        problem_kind text,
        problem_at integer              -- since when
    ) strict
    """,
    """
    create table gitops_files (         -- files of the repository that are something here, or should be
        file text primary key,          -- from the followed folder: pages/a/b.md
        kind text not null check (kind in ('page', 'file', 'other')),
        page_id text unique,            -- null: it is no page here yet; the page may be gone
        file_id text unique,            -- of one beside the pages
        path text,                      -- of the page, as the file's name gives it
        blob text,                      -- whose text is here; null: none yet
        seen_blob text not null,        -- in the newest tree; another than `blob` while it can't be read
        commit_id text,
        author text,
        author_address text,
        committed_at integer,
        digest text not null default '',            -- of all that the page was given; empty: look at it again
        strangers text not null default '[]',       -- JSON: addresses of grants that nobody here has
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
    create table gitops_conflicts (     -- pages whose waiting edits can't be carried out before a person has chosen
        page_id text primary key,
        file text not null,
        reason text not null,
        is_clash integer not null,      -- another file is where the page should be
        there_blob text,                -- of the file there; null: it is gone
        there_text text,
        seq integer not null,           -- the page's newest waiting edit when it was looked at
        at integer not null
    ) strict
    """,
)
