"""The table of undo. Mail's own migrations move the steps of older homes into it."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("undo")


@MIGRATIONS(name="m001_undo")
def m001_undo(db: Database) -> None:
    db.execute(
        """
        create table undo_steps (                   -- a person's steps that can be undone, and how
            id integer primary key autoincrement,
            user_id text,                           -- null: everybody's, until the instance is claimed
            kind text not null,                     -- the reversal that undoes it
            what text not null,                     -- what the person did
            concerns text not null,                 -- JSON array of ids
            inverse text not null,                  -- JSON, by kind
            at integer not null
        ) strict
        """
    )
    db.execute("create index undo_steps_user on undo_steps (user_id, id desc)")


@MIGRATIONS(name="m002_groups")
def m002_groups(db: Database) -> None:
    """Adds the client's name for a step that it sends in several calls."""
    db.execute("alter table undo_steps add column group_id text")
