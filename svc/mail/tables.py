"""The tables of mail as the migration ``m001_mail`` makes them. The meaning of these statements must never change."""

from __future__ import annotations

from typing import Final

TABLES: Final = (
    """
    create table mail_accounts (
        id text primary key,
        owner_id text,                          -- null: everybody's, until the instance is claimed
        address text not null unique,           -- lower case; of an account that is kept here: its name, as written
        provider text not null check (provider in ('gmail', 'fake')),
        state text not null check (state in ('backfilling', 'caught-up', 'waiting', 'reconnect', 'disconnected')),
        problem text,                           -- one sentence, while waiting or in need of a reconnect
        history_id text,                        -- how far changes are read; null until the first full sync is complete
        sweep_no integer not null default 0,    -- of the running or last full sync
        sweep_history_id text,                  -- taken before its first page; null while none is running
        sweep_page_token text,                  -- of the next page
        sweep_started_at integer,
        progress_done integer not null default 0,
        progress_total integer,
        messages integer not null default 0,
        unread_threads integer not null default 0,  -- threads in the inbox with an unread message
        last_synced_at integer,
        created_at integer not null
    ) strict
    """,
    """
    create table mail_labels (
        account_id text not null references mail_accounts (id) on delete cascade,
        label_id text not null,
        name text not null,
        system integer not null,
        color text,
        primary key (account_id, label_id)
    ) strict, without rowid
    """,
    """
    create table mail_threads (
        id text primary key,
        account_id text not null references mail_accounts (id) on delete cascade,
        provider_thread_id text not null,
        subject text not null default '',
        snippet text not null default '',
        sender_name text not null default '',
        sender_address text not null default '',
        last_message_at integer not null default 0,
        messages integer not null default 0,
        in_inbox integer not null default 0,    -- messages that carry INBOX
        unread integer not null default 0,      -- messages that carry UNREAD, outside spam and trash
        visible integer not null default 0,     -- messages outside spam, trash and drafts
        attachments integer not null default 0,
        labels text not null default '[]',      -- JSON array: the label ids of all its messages, sorted
        unique (account_id, provider_thread_id)
    ) strict
    """,
    """
    create index mail_threads_inbox on mail_threads (account_id, last_message_at desc, id desc) where in_inbox > 0
    """,
    """
    create index mail_threads_skipped on mail_threads (account_id, last_message_at desc, id desc)
        where in_inbox = 0 and visible > 0
    """,
    """
    create table mail_messages (
        id text primary key,
        account_id text not null references mail_accounts (id) on delete cascade,
        thread_id text not null references mail_threads (id),
        provider_message_id text not null,
        message_id_header text,                 -- without its angle brackets
        sent_at integer not null,
        stored_at integer not null,
        sender_name text not null,
        sender_address text not null,
        subject text not null,
        snippet text not null,
        headers text not null,                  -- JSON: model.MessageHeaders
        labels text not null,                   -- JSON array of label ids, sorted
        in_inbox integer not null,
        unread integer not null,
        visible integer not null,
        attachments integer not null,
        own integer not null,                   -- 1: a copy of what this account sent
        body_sha256 text not null,              -- blob: JSON {html, text}
        raw_sha256 text not null,               -- blob: the message as it came
        raw_size integer not null,
        seen_sweep integer not null,            -- the last full sync that saw it
        unique (account_id, provider_message_id)
    ) strict
    """,
    "create index mail_messages_thread on mail_messages (thread_id, sent_at, id)",
    "create index mail_messages_header on mail_messages (account_id, message_id_header)",
    "create index mail_messages_sweep on mail_messages (account_id, seen_sweep)",
    """
    create table mail_mirror (                  -- local changes the provider has not confirmed yet, oldest first
        id integer primary key autoincrement,
        account_id text not null references mail_accounts (id) on delete cascade,
        provider_message_id text not null,
        add_labels text not null,               -- JSON array
        remove_labels text not null,            -- JSON array
        device_id text not null,
        created_at integer not null,
        attempts integer not null default 0,
        next_at integer not null,
        last_error text
    ) strict
    """,
    "create index mail_mirror_message on mail_mirror (account_id, provider_message_id)",
    """
    create table mail_ledger (                  -- single messages that failed and were skipped
        account_id text not null references mail_accounts (id) on delete cascade,
        provider_message_id text not null,
        step text not null check (step in ('fetch', 'store', 'mirror')),
        reason text not null,
        attempts integer not null,
        first_at integer not null,
        last_at integer not null,
        primary key (account_id, provider_message_id, step)
    ) strict, without rowid
    """,
    """
    create table mail_clean (                   -- sanitized bodies, by content and policy; may be emptied at any time
        body_sha256 text not null,
        policy integer not null,
        html text not null,
        blocked_images integer not null,
        remote_images text not null,            -- JSON array
        made_at integer not null,
        primary key (body_sha256, policy)
    ) strict, without rowid
    """,
)
