"""The store's own tables: outbox, event records, secrets, and single facts."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

STORE_MIGRATIONS = Migrations("store")


@STORE_MIGRATIONS()
def m001_outbox(db: Database) -> None:
    """``autoincrement``: a number is never given twice, also when the newest rows were pruned."""
    db.executescript(
        """
        create table outbox (
            seq integer primary key autoincrement,
            at integer not null,
            topic text not null,
            kind text not null,
            ref text not null,
            payload text not null,
            audience text,
            device_id text
        ) strict;
        """
    )


@STORE_MIGRATIONS()
def m002_events(db: Database) -> None:
    db.executescript(
        """
        create table events (
            seq integer primary key autoincrement,
            at integer not null,
            type text not null,
            payload text not null,
            audience text,
            device_id text not null
        ) strict;
        create index events_by_type on events (type, seq);
        """
    )


@STORE_MIGRATIONS()
def m003_secrets(db: Database) -> None:
    db.executescript(
        """
        create table secrets (
            name text primary key,
            id text not null unique,
            version integer not null,
            nonce blob not null,
            ciphertext blob not null,
            key_id text not null,
            updated_at integer not null
        ) strict, without rowid;
        """
    )


@STORE_MIGRATIONS()
def m004_meta(db: Database) -> None:
    """Facts of which there is one: ``seed.mock-world`` = done, and the like."""
    db.executescript(
        """
        create table meta (
            key text primary key,
            value text not null
        ) strict, without rowid;
        """
    )
