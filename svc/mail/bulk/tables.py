"""The tables of bulk steps, as ``m060_bulk_steps`` makes them. The meaning of these statements must never change."""

from __future__ import annotations

BULK_TABLES = (
    """
    create table mail_bulk_steps (
        id text primary key,
        user_id text,                           -- whose step it is; null: everybody's, until the instance is claimed
        device_id text not null,
        state text not null check (
            state in ('choosing', 'chosen', 'working', 'done', 'stopped', 'undoing', 'undone', 'dropped')
        ),
        act text,                               -- JSON: the action; null until it is chosen
        total integer not null default 0,       -- chosen threads, as lists count them
        taken integer not null default 0,       -- of these: already processed
        passed integer not null default 0,      -- of the processed ones: left unchanged
        created_at integer not null,
        moved_at integer not null
    ) strict
    """,
    "create index mail_bulk_steps_work on mail_bulk_steps (moved_at, id) where state in ('working', 'undoing')",
    "create index mail_bulk_steps_user on mail_bulk_steps (user_id, created_at)",
    """
    create table mail_bulk_threads (            -- chosen threads that are not processed yet
        step_id text not null references mail_bulk_steps (id) on delete cascade,
        place integer not null,
        thread_id text not null,
        messages integer not null,              -- how many it had then, without drafts; if more now: left unchanged
        last_message_at integer not null,
        counted integer not null,               -- 0: a copy in another account; lists show both as one thread
        primary key (step_id, place)
    ) strict, without rowid
    """,
    """
    create table mail_bulk_changes (            -- what its batches changed, for undo
        step_id text not null references mail_bulk_steps (id) on delete cascade,
        place integer not null,
        counted integer not null,               -- threads of the batch, as lists count them
        changes text not null,                  -- JSON: labelling's Changes
        primary key (step_id, place)
    ) strict, without rowid
    """,
)
