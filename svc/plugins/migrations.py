"""The tables of plugins: the decisions about each, and the list that a repository pins."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("plugins")


@MIGRATIONS()
def m001_plugins(db: Database) -> None:
    db.executescript(
        """
        create table plugins (
            name text primary key,          -- of the package; one without a row is on and has no rights
            is_on integer not null check (is_on in (0, 1)),
            agreed text not null            -- JSON: the ids of the rights that an admin agreed to
        ) strict, without rowid;

        create table plugin_pins (
            id integer primary key check (id = 1),
            text text,                      -- the last good plugins.json; null: the repository has none
            problem text                    -- of the newest one
        ) strict;
        """
    )


@MIGRATIONS()
def m002_actors(db: Database) -> None:
    db.executescript(
        """
        create table plugin_actors (        -- for whom a plugin's rule or agent acts: the admin who said yes last
            name text not null,             -- of the package
            right_id text not null,
            user_id text,                   -- null: said before the instance was claimed
            primary key (name, right_id)
        ) strict, without rowid;
        """
    )
