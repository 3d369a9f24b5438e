"""The tables of identity."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("identity")


@MIGRATIONS(name="m001_oauth_states")
def m001_oauth_states(db: Database) -> None:
    db.execute(
        """
        create table oauth_states (
            digest text primary key,            -- SHA-256 of the state; the state itself is never stored
            purpose text not null,              -- 'mail'
            browser_digest text not null,       -- SHA-256 of the cookie of the browser that began
            hint text not null,                 -- the address that was asked for, or ''
            user_id text,
            created_at integer not null,
            expires_at integer not null
        ) strict, without rowid
        """
    )
    db.execute("create index oauth_states_expiry on oauth_states (expires_at)")
