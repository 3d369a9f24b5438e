"""The table of habits."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("habits")


@MIGRATIONS(name="m001_habits")
def m001_habits(db: Database) -> None:
    db.execute(
        "create table habits (name text primary key, done integer not null, met integer not null default 0) strict"
    )
