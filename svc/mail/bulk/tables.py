"""The tables of bulk steps, as ``m060_bulk_steps`` makes them. The meaning of these statements must never change."""

from __future__ import annotations

BULK_TABLES = (
    """
    create table mail_bulk_steps (
        id text primary key,
        user_id text,                           -- who chose it; null: everybody's, until the instance is claimed
        device_id text not null,
        state text not null check (
            state in ('choosing', 'chosen', 'working', 'done', 'stopped', 'undoing', 'undone', 'dropped')
        ),
        act text,                               -- JSON: what is done; null while it is only chosen
        total integer not null default 0,       -- threads that were chosen, as lists count them
        taken integer not null default 0,       -- of these: so many have been seen to
        passed integer not null default 0,      -- and so many of those were left alone
        created_at integer not null,
        moved_at integer not null
    ) strict
    """,
    "create index mail_bulk_steps_work on mail_bulk_steps (moved_at, id) where state in ('working', 'undoing')",
    "create index mail_bulk_steps_user on mail_bulk_steps (user_id, created_at)",
    """
    create table mail_bulk_threads (            -- what was chosen and is not seen to yet
        step_id text not null references mail_bulk_steps (id) on delete cascade,
        place integer not null,
        thread_id text not null,
        messages integer not null,              -- that it had, without drafts: with more it is left alone
        last_message_at integer not null,
        counted integer not null,               -- 0: the same mail in another account, listed as one with another
        primary key (step_id, place)
    ) strict, without rowid
    """,
    """
    create table mail_bulk_changes (            -- what its batches changed, for taking it back
        step_id text not null references mail_bulk_steps (id) on delete cascade,
        place integer not null,
        counted integer not null,               -- threads of the batch, as lists count them
        changes text not null,                  -- JSON: labelling's Changes
        primary key (step_id, place)
    ) strict, without rowid
    """,
)
