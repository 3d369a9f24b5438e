"""The store's own tables: outbox, event records, secrets, and single facts."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

STORE_MIGRATIONS = Migrations("store")


@STORE_MIGRATIONS()
def m001_outbox(db: Database) -> None:
    """``autoincrement``: a number is never used twice, even when the newest rows were pruned."""
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
    """Single facts, for example ``seed.mock-world`` = done."""
    db.executescript(
        """
        create table meta (
            key text primary key,
            value text not null
        ) strict, without rowid;
        """
    )


@STORE_MIGRATIONS()
def m005_blob_damage(db: Database) -> None:
    """Few rows: blobs found damaged, and those repaired in the last weeks."""
    db.executescript(
        """
        create table blob_damage (
            sha256 text primary key,
            harm text not null check (harm in ('missing', 'truncated', 'altered')),
            state text not null check (state in ('waiting', 'lost', 'mended')),
            reason text not null,
            attempts integer not null,
            found_at integer not null,
            next_at integer not null,
            changed_at integer not null,
            became text
        ) strict, without rowid;
        """
    )


@STORE_MIGRATIONS()
def m006_consumers(db: Database) -> None:
    """The cursor of each durable consumer, and the events that failed."""
    db.executescript(
        """
        create table consumers (
            name text primary key,
            seq integer not null,
            failures integer not null,
            retry_at integer not null,
            problem text,
            updated_at integer not null
        ) strict, without rowid;
        create table consumer_failures (
            name text not null,
            seq integer not null,
            type text not null,
            reason text not null,
            at integer not null,
            primary key (name, seq)
        ) strict, without rowid;
        """
    )


@STORE_MIGRATIONS()
def m007_secret_envelopes(db: Database) -> None:
    """A data key for each secret, and who gave its value. Older homes seeded one secret only: the OAuth client."""
    db.executescript(
        """
        alter table secrets add column wrapped_key blob;
        alter table secrets add column source text not null default 'oauth'
            check (source in ('seed', 'user', 'oauth'));
        update secrets set source = 'seed' where name = 'idp.oauth';
        """
    )


@STORE_MIGRATIONS()
def m008_passwords_are_given_by_a_person(db: Database) -> None:
    """They were stored like what comes from a consent screen."""
    db.execute("update secrets set source = 'user' where name like 'mail.imap.%'")
