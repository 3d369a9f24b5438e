"""The tables of notifications."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("notifications")


@MIGRATIONS(name="m001_notifications")
def m001_notifications(db: Database) -> None:
    for statement in _TABLES:
        db.execute(statement)


_TABLES = (
    """
    create table notify_preferences (
        user_id text primary key references users (id) on delete cascade,
        words text not null check (words in ('all', 'sender', 'none')),
        time_zone text,                         -- of the quiet hours; null: there are none
        quiet_begin integer,                    -- minutes of the day
        quiet_end integer
    ) strict, without rowid
    """,
    """
    create table notify_accounts (              -- the accounts whose mail a person gets notifications for
        account_id text not null references mail_accounts (id) on delete cascade,
        user_id text not null references users (id) on delete cascade,
        primary key (account_id, user_id)
    ) strict, without rowid
    """,
    "create index notify_accounts_user on notify_accounts (user_id)",
    """
    create table push_browsers (                -- browsers that get pushes
        id text primary key,
        user_id text not null references users (id) on delete cascade,
        device_id text not null references devices (id) on delete cascade,  -- its session; without it no push
        endpoint text not null unique,
        public_key blob not null,
        secret blob not null,
        created_at integer not null,
        problem text                            -- why the last push was refused
    ) strict
    """,
    "create index push_browsers_user on push_browsers (user_id)",
    "create index push_browsers_device on push_browsers (device_id)",
    """
    create table push_queue (                   -- a row per message and browser; kept, so that none is pushed twice
        browser_id text not null references push_browsers (id) on delete cascade,
        message_id text not null,
        thread_id text not null,
        account_id text not null,
        payload blob not null,
        state text not null check (state in ('waiting', 'sending', 'done')),
        attempts integer not null default 0,
        created_at integer not null,            -- when the mail was recorded
        next_at integer not null,
        primary key (browser_id, message_id)
    ) strict, without rowid
    """,
    "create index push_queue_due on push_queue (next_at) where state = 'waiting'",
    "create index push_queue_account on push_queue (account_id)",
    "create index push_queue_created on push_queue (created_at)",
)
