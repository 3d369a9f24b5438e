"""The tables of the files, and the triggers that queue a page whenever its file has to change."""

from __future__ import annotations

from typing import Final

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("okf")


@MIGRATIONS(name="m001_okf")
def m001_okf(db: Database) -> None:
    for statement in _TABLES:
        db.execute(statement)
    _queue_after(db, PAGE_CHANGES)
    db.execute("insert into okf_queue (page_id) select id from pages")


@MIGRATIONS(name="m002_marks")
def m002_marks(db: Database) -> None:
    """The file says whether its text is from outside."""
    _queue_after(db, MARK_CHANGES)
    db.execute("insert into okf_queue (page_id) select page_id from page_trust where true on conflict do nothing")


def _queue_after(db: Database, changes: tuple[tuple[str, str, str], ...]) -> None:
    for name, event, row in changes:
        db.execute(
            f"""
            create trigger okf_{name} after {event} begin
                insert into okf_queue (page_id) values ({row}) on conflict do nothing;
            end
            """
        )


_TABLES = (
    "create table okf_queue (page_id text primary key) strict, without rowid",
    """
    create table okf_files (            -- the files as they were last written or read
        page_id text primary key,
        file text not null unique,      -- below okf/
        digest text not null,           -- SHA-256 of the file; empty: it could not be written
        revision integer not null,
        problem text
    ) strict, without rowid
    """,
    """
    create table okf_troubles (         -- files that people changed and that differ from the page
        file text primary key,
        path text not null,
        kept text,                      -- the copy, if both had changed
        reason text not null,
        digest text not null,
        at integer not null
    ) strict, without rowid
    """,
)

PAGE_CHANGES: Final = (
    ("made", "insert on pages", "new.id"),
    ("changed", "update of path, title, owner_id, access, revision on pages", "new.id"),
    ("gone", "delete on pages", "old.id"),
    ("granted", "insert on page_grants", "new.page_id"),
    ("revoked", "delete on page_grants", "old.page_id"),
)
MARK_CHANGES: Final = (
    ("marked", "insert on page_trust", "new.page_id"),
    ("marked_anew", "update on page_trust", "new.page_id"),
    ("trusted", "delete on page_trust", "old.page_id"),
)
CHANGES: Final = (*PAGE_CHANGES, *MARK_CHANGES)
