"""The table of imports, as the migration ``m030_imports`` creates it. Never change what these statements do."""

from __future__ import annotations

IMPORTS_TABLES = (
    """
    create table mail_imports (
        id text primary key,
        account_id text not null references mail_accounts (id) on delete cascade,
        run_id text not null,
        user_id text,                           -- who asked for it; null: everybody's, until the instance is claimed
        file_id text not null,                  -- the upload that is imported
        sha256 text not null,                   -- its content
        name text not null,                     -- of the upload
        remove_file integer not null,           -- 1: the upload is deleted after the import
        state text not null check (state in ('working', 'done', 'failed', 'stopped')),
        position integer not null default 0,    -- how much of the upload is processed
        percent integer not null default 0,
        added integer not null default 0,       -- mails that were not here
        known integer not null default 0,       -- mails that were here already
        skipped integer not null default 0,     -- messages that could not be imported
        reasons text not null default '[]',     -- JSON array: the reasons of the first skipped ones
        problem text,                           -- one sentence, where it failed
        created_at integer not null,
        ended_at integer
    ) strict
    """,
    "create index mail_imports_working on mail_imports (created_at) where state = 'working'",
    "create index mail_imports_account on mail_imports (account_id)",
    "create index mail_imports_run on mail_imports (run_id)",
)
