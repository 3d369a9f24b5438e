"""The tables of sending, as the migrations create them, ``m002_sending`` first. Never change what these statements
do."""

from __future__ import annotations

from typing import Final

TABLES = (
    """
    create table mail_outgoing (
        id text primary key,
        owner_id text,                          -- null: everybody's, until the instance is claimed
        device_id text not null,                -- which device asked for it
        account_id text not null,               -- may outlive its account: the outcome of a mail is kept for ever
        from_address text not null,
        to_addresses text not null,             -- JSON array of mailboxes, as composed
        cc_addresses text not null,
        bcc_addresses text not null,
        subject text not null,
        html text not null,                     -- what the person wrote, without the quote
        attachments text not null,              -- JSON array of ids of files of its own
        thread_id text,                         -- the thread it answers
        quoted text,                            -- JSON: model.Quoted, the original below the text
        in_reply_to text,
        reference_ids text not null,            -- JSON array, oldest first
        provider_thread_id text,                -- the thread at the provider
        draft_id text unique,                   -- its draft: if the same one is sent again, this row is found
        restored_draft_id text,                 -- the draft it became again when it was cancelled
        message_id_header text not null,        -- without its angle brackets; set before anything is sent
        state text not null check (state in
            ('scheduled', 'held', 'overdue', 'transmitting', 'sent', 'failed', 'uncertain', 'cancelled')),
        doubt integer not null default 0,       -- 1: an attempt ended without a word; it may have been sent
        version integer not null default 1,     -- counts every change: compare and set
        send_at integer,                        -- the person's wish; null: at once
        next_at integer,                        -- when it is sent; null in every state that waits for a person
        attempts integer not null default 0,    -- since the person last decided
        last_error text,
        raw_sha256 text,                        -- blob: the bytes of the last attempt
        provider_message_id text,               -- once it is known to be sent
        message_id text,
        created_at integer not null,
        changed_at integer not null,
        dismissed_at integer                    -- when the person dismissed the notice about it
    ) strict
    """,
    "create index mail_outgoing_due on mail_outgoing (next_at) where next_at is not null",
    "create index mail_outgoing_state on mail_outgoing (state, changed_at)",
    "create index mail_outgoing_list on mail_outgoing (owner_id, created_at desc)",
    "create index mail_outgoing_header on mail_outgoing (account_id, message_id_header)",
    """
    create table mail_drafts (                  -- drafts written here; the copies on the server are made from them
        id text primary key,
        owner_id text,
        account_id text not null,
        to_addresses text not null,             -- JSON arrays, as typed: a draft may have invalid addresses
        cc_addresses text not null,
        bcc_addresses text not null,
        subject text not null,
        html text not null,
        snippet text not null,
        attachments text not null,              -- JSON array of ids of files of its own
        thread_id text,
        quote text,                             -- JSON: model.Quote
        version integer not null,
        created_at integer not null,
        updated_at integer not null
    ) strict
    """,
    "create index mail_drafts_list on mail_drafts (owner_id, updated_at desc)",
    """
    create table mail_signatures (
        account_id text primary key references mail_accounts (id) on delete cascade,
        html text not null,
        updated_at integer not null
    ) strict, without rowid
    """,
)

SENT_BY: Final = (
    "alter table mail_outgoing add column sent_by text",  # the person who sent it; null: before the claim
    "create index mail_outgoing_sent_by on mail_outgoing (sent_by, created_at desc) where sent_by is not null",
)

DRAFT_COPIES: Final = (
    """
    create table mail_draft_copies (            -- copies of drafts on the servers of their accounts
        draft_id text not null,                 -- may outlive its draft, until the copy on the server is deleted, too
        account_id text not null,
        next_at integer,                        -- when the server is updated; null: it is up to date
        changes integer not null default 1,     -- counts the changes to send: compare and set
        attempts integer not null default 0,    -- since the last change
        primary key (draft_id, account_id)
    ) strict, without rowid
    """,
    "create index mail_draft_copies_due on mail_draft_copies (next_at) where next_at is not null",
    """
    insert into mail_draft_copies (draft_id, account_id, next_at)
    select d.id, a.id, d.updated_at from mail_drafts d join mail_accounts a on a.id = d.account_id
    where d.owner_id is a.owner_id
    """,
)

TAKEN_DRAFTS: Final = (
    "alter table mail_drafts add column in_reply_to text",  # if not the thread's newest message
    "alter table mail_drafts add column reference_ids text",  # JSON array, with it
    "alter table mail_draft_copies add column message_id_header text",  # of the copies; null: made from the id
    "alter table mail_draft_copies add column refused text",  # why the server does not have what is here
    """
    create table mail_draft_originals (         -- drafts of another program that are continued here
        account_id text not null,
        provider_message_id text not null,
        message_id text not null,               -- as it is stored here, while it is on the server
        draft_id text not null,                 -- continues it; may outlive it, until the original is deleted there
        primary key (account_id, provider_message_id)
    ) strict, without rowid
    """,
    "create index mail_draft_originals_draft on mail_draft_originals (draft_id)",
)

FOLLOWED_DRAFTS: Final = (
    "alter table mail_draft_copies add column elsewhere text",  # sent, thrown: by another program, and kept here
    "create index mail_draft_copies_header on mail_draft_copies (account_id, message_id_header)",
    "alter table mail_outgoing add column draft_header text",  # the Message-ID of the draft that it was, at the server
    """
    create index mail_outgoing_draft_header on mail_outgoing (account_id, draft_header) where draft_header is not null
    """,
    """
    create table mail_draft_finds (             -- messages that other programs made from drafts, undecided yet
        account_id text not null,
        message_id text not null,
        draft_id text not null,
        kind text not null check (kind in ('edited', 'sent', 'thrown')),
        changes integer not null,               -- the `changes` of the draft's copy when the message was found
        looks integer not null default 0,       -- how often its original was still on the server
        next_at integer not null,
        primary key (account_id, message_id)
    ) strict, without rowid
    """,
    "create index mail_draft_finds_due on mail_draft_finds (next_at)",
)
