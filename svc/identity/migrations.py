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
            purpose text not null,              -- 'mail' or 'login'
            browser_digest text not null,       -- SHA-256 of the cookie of the browser that began the sign-in
            hint text not null,                 -- the requested address, or ''
            user_id text,
            created_at integer not null,
            expires_at integer not null
        ) strict, without rowid
        """
    )
    db.execute("create index oauth_states_expiry on oauth_states (expires_at)")


@MIGRATIONS(name="m002_users_and_what_opens")
def m002_users_and_what_opens(db: Database) -> None:
    for statement in _USERS_AND_WHAT_OPENS:
        db.execute(statement)


_USERS_AND_WHAT_OPENS = (
    "alter table oauth_states add column payload text not null default ''",  # data that the round trip carries
    """
    create table users (
        id text primary key,
        email text not null unique,             -- ASCII case folded
        name text not null,
        role text not null check (role in ('admin', 'member')),
        created_at integer not null
    ) strict
    """,
    """
    create table identities (
        issuer text not null,
        subject text not null,
        user_id text not null references users (id) on delete cascade,
        email text not null,
        created_at integer not null,
        primary key (issuer, subject)
    ) strict, without rowid
    """,
    """
    create table devices (
        id text primary key,
        user_id text references users (id) on delete cascade,
        kind text not null,
        name text not null,
        capabilities text not null,             -- JSON object of flags
        token_digest text unique,               -- null for web sessions: their cookie opens the session
        revoked integer not null default 0,
        created_at integer not null,
        last_seen_at integer
    ) strict
    """,
    "create index devices_user on devices (user_id)",
    """
    create table sessions (
        id text primary key,
        cookie_digest text not null unique,
        user_id text not null references users (id) on delete cascade,
        device_id text not null references devices (id) on delete cascade,
        created_at integer not null,
        last_seen_at integer not null,
        expires_at integer not null
    ) strict
    """,
    "create index sessions_user on sessions (user_id)",
    "create index sessions_expiry on sessions (expires_at)",
    """
    create table invites (
        id text primary key,
        code_digest text not null unique,
        email text,                             -- locked to this address, ASCII case folded
        role text not null check (role in ('admin', 'member')),
        created_by text references users (id) on delete set null,
        created_at integer not null,
        expires_at integer not null,
        used_at integer,
        used_by text references users (id) on delete set null,
        revoked_at integer
    ) strict
    """,
    """
    create table pairing_codes (
        code_digest text primary key,
        user_id text references users (id) on delete cascade,
        capabilities text not null,
        created_at integer not null,
        expires_at integer not null,
        used_at integer
    ) strict, without rowid
    """,
    """
    create table claim_tokens (                 -- SVC_CLAIM_TOKEN: may claim an instance that strangers can reach, once
        token_digest text primary key,
        created_at integer not null,
        used_at integer
    ) strict, without rowid
    """,
)


@MIGRATIONS(name="m003_devices_by_their_kind")
def m003_devices_by_their_kind(db: Database) -> None:
    """Rename devices with a token that were paired under the kind of a browser's session: no list shows them there."""
    db.execute(
        "update devices set kind = 'device' where lower(trim(kind)) = 'web-session' and token_digest is not null"
    )


@MIGRATIONS(name="m004_where_devices_are")
def m004_where_devices_are(db: Database) -> None:
    """The address where a browser or device was last seen, so that its owner recognises it."""
    db.execute("alter table devices add column seen_from text")
