"""The table of idempotency."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("idempotency")


@MIGRATIONS(name="m001_idempotency")
def m001_idempotency(db: Database) -> None:
    db.execute(
        """
        create table idempotency_keys (             -- requests of a person's clients that run once, and their results
            id integer primary key autoincrement,
            user_id text,                           -- null: everybody's, until the instance is claimed
            key text not null,                      -- the client's own name for the action
            fingerprint blob not null,              -- SHA-256 of the procedure and its input
            result text not null,                   -- JSON
            at integer not null
        ) strict
        """
    )
    db.execute("create unique index idempotency_keys_key on idempotency_keys (ifnull(user_id, ''), key)")
    db.execute("create index idempotency_keys_user on idempotency_keys (user_id, key)")
    db.execute("create index idempotency_keys_at on idempotency_keys (user_id, id desc)")
