"""The tables of tools: what each run may use, what it called, and what has text from outside."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("tools")


@MIGRATIONS(name="m001_tools")
def m001_tools(db: Database) -> None:
    for statement in _TABLES:
        db.execute(statement)


_TABLES = (
    """
    create table run_tools (                -- what a run was given when it began; nothing it reads changes that
        run_id text primary key references runs (id) on delete cascade,
        tools text not null,
        approvals text not null
    ) strict, without rowid
    """,
    """
    create table run_trust (                -- runs that have text from outside, and where the first came from
        run_id text primary key references runs (id) on delete cascade,
        source text not null,
        at integer not null
    ) strict, without rowid
    """,
    """
    create table page_trust (               -- pages that such a run wrote; a page that is gone is nobody's concern
        page_id text primary key,
        run_id text not null,
        at integer not null
    ) strict, without rowid
    """,
    """
    create table tool_calls (               -- one a call: written before it is done, and again after
        run_id text not null references runs (id) on delete cascade,
        key text not null,
        tool text not null,
        input text not null,
        digest blob not null,
        state text not null check (state in ('asked', 'begun', 'working', 'done', 'failed', 'unknown')),
        waits text,                         -- the step of the run that waits for it
        at integer not null,
        ended_at integer,
        primary key (run_id, key)
    ) strict, without rowid
    """,
    "create index tool_calls_open on tool_calls (at) where state in ('begun', 'working')",
)
