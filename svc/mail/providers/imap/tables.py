"""The tables for the stored state of IMAP mailboxes, for mail's migrations."""

from __future__ import annotations

from typing import Final

TABLES: Final = (
    """
    create table mail_imap_folders (
        id integer primary key,
        account_id text not null references mail_accounts (id) on delete cascade,
        name blob not null,                     -- as the server lists it
        label text not null,                    -- of the messages in it; empty: the archive
        shown text not null,                    -- its name for people
        uid_validity integer not null default 0,    -- 0: not read completely yet
        uid_next integer not null default 0,
        modseq integer not null default 0,      -- 0: the server has none
        messages integer not null default 0,
        looked_at integer not null default 0,   -- when all of its flags were looked at
        unique (account_id, name)
    ) strict
    """,
    """
    create table mail_imap_places (             -- the folder of each message, by an id that a move does not change
        account_id text not null references mail_accounts (id) on delete cascade,
        id text not null,
        folder_id integer not null references mail_imap_folders (id),
        uid integer,                            -- null: lost, or not filed yet
        mark text not null,                     -- identifies the message: from its Message-ID and size
        arrived_at integer not null,
        size integer not null,
        seen integer not null,
        flagged integer not null,
        keywords text not null default '[]',    -- JSON array of label ids, sorted
        came_from text not null default '',     -- the label of its folder before spam or trash
        lost_at integer,                        -- when it disappeared from its folder; it may be in another one
        filing text,                            -- of our own copy to file: the mark of its Message-ID
        filing_sha256 text,                     -- its bytes, a blob that the copy itself holds
        filed_tries integer not null default 0,
        primary key (account_id, id)
    ) strict, without rowid
    """,
    "create unique index mail_imap_places_uid on mail_imap_places (folder_id, uid) where uid is not null",
    "create index mail_imap_places_lost on mail_imap_places (account_id, mark) where lost_at is not null",
    "create index mail_imap_places_filing on mail_imap_places (account_id) where filing is not null",
    "create index mail_imap_places_newest on mail_imap_places (account_id, arrived_at desc, id desc)",
    """
    create table mail_imap_changes (            -- changes at the server that sync has not applied yet
        seq integer primary key autoincrement,
        account_id text not null references mail_accounts (id) on delete cascade,
        kind text not null check (kind in ('added', 'deleted', 'labels-added', 'labels-removed')),
        message_id text not null,
        labels text not null                    -- JSON array
    ) strict
    """,
    "create index mail_imap_changes_account on mail_imap_changes (account_id, seq)",
)

MADE_KEYWORDS: Final = (
    """
    create table mail_imap_keywords (           -- labels that were created here and are keywords at the server
        account_id text not null references mail_accounts (id) on delete cascade,
        label text not null,
        name text not null,                     -- as the person wrote it; a keyword allows fewer characters
        primary key (account_id, label)
    ) strict, without rowid
    """,
)

SERVER_IDS: Final = (
    "alter table mail_imap_places add column server_id text",  # of servers that number messages themselves
    "alter table mail_imap_places add column server_thread text not null default ''",
    "create index mail_imap_places_server_id on mail_imap_places (account_id, server_id) where server_id is not null",
)

OWN_DRAFTS: Final = (
    "alter table mail_imap_places add column is_ours integer not null default 0",  # 1: the copy of a draft kept here
    """
    create table mail_imap_drafts (             -- drafts that are, or may be, on the server as our copies
        account_id text not null references mail_accounts (id) on delete cascade,
        mark text not null,
        primary key (account_id, mark)
    ) strict, without rowid
    """,
)

DRAFT_TEXTS: Final = (
    "alter table mail_imap_drafts add column size integer",  # in bytes; null: noted before texts were compared
    "alter table mail_imap_drafts add column sha256 blob",
)

DRAFT_CONTENTS: Final = (
    "alter table mail_imap_drafts add column content blob",  # its digest; null: what lies at the server is known
)

RENAMED: Final = ("alter table mail_imap_changes add column renamed integer not null default 0",)

MOVES: Final = (
    """
    create table mail_imap_copies (             -- messages that are being moved by copying them
        account_id text not null references mail_accounts (id) on delete cascade,
        id text not null,
        folder_id integer not null references mail_imap_folders (id),   -- the folder where the copy is, or will be
        first_uid integer not null,             -- the copy's UID is at least this
        primary key (account_id, id)
    ) strict, without rowid
    """,
    "create index mail_imap_copies_folder on mail_imap_copies (folder_id)",
    """
    create table mail_imap_leftovers (          -- messages to delete, because they are in another folder now
        id integer primary key,
        account_id text not null references mail_accounts (id) on delete cascade,
        folder_id integer not null references mail_imap_folders (id),
        uid integer,                            -- null: the folder's UIDs are not valid any more
        mark text not null,                     -- identifies the message then
        unique (folder_id, uid)
    ) strict
    """,
    "create index mail_imap_leftovers_account on mail_imap_leftovers (account_id)",
)
