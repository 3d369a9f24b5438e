"""The table of preferences."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("preferences")


@MIGRATIONS(name="m001_preferences")
def m001_preferences(db: Database) -> None:
    db.execute(
        """
        create table preferences (
            user_id text primary key,               -- empty: everybody's, until the instance is claimed
            wanted text not null,                   -- JSON
            updated_at integer not null
        ) strict, without rowid
        """
    )
