"""The tables of labelling, as the migration ``m004_labelling`` makes them. Their meaning must never change."""

from __future__ import annotations

TABLES = (
    # 1: the provider no longer lists it; it is deleted once no message carries it here.
    "alter table mail_labels add column gone integer not null default 0",
    "alter table mail_accounts add column labels_at integer not null default 0",  # when the provider last listed them
    """
    create table mail_thread_labels (           -- the threads of each label, newest first
        account_id text not null references mail_accounts (id) on delete cascade,
        label_id text not null,                 -- not INBOX, UNREAD nor a category: those have other lists
        last_message_at integer not null,       -- the thread's
        thread_id text not null,
        primary key (account_id, label_id, last_message_at desc, thread_id desc)
    ) strict, without rowid
    """,
    """
    insert into mail_thread_labels (account_id, label_id, last_message_at, thread_id)
    select t.account_id, l.value, t.last_message_at, t.id from mail_threads t, json_each(t.labels) l
    where l.value not in ('INBOX', 'UNREAD') and substr(l.value, 1, 9) <> 'CATEGORY_'
    """,
    """
    create table mail_snoozes (                 -- threads that come back to the inbox by themselves
        thread_id text primary key,             -- derived from the provider's id; may be here before the thread is
        account_id text not null references mail_accounts (id) on delete cascade,
        until integer not null,
        created_at integer not null
    ) strict, without rowid
    """,
    "create index mail_snoozes_until on mail_snoozes (until)",
    """
    create table mail_undo (                    -- a person's steps that can be undone, and how
        id integer primary key autoincrement,
        user_id text,                           -- null: everybody's, until the instance is claimed
        kind text not null,                     -- the reversal that undoes it: labelling/reversals.py
        what text not null,                     -- what the person did
        thread_ids text not null,               -- JSON array
        inverse text not null,                  -- JSON, by kind
        at integer not null
    ) strict
    """,
    "create index mail_undo_user on mail_undo (user_id, id desc)",
)
