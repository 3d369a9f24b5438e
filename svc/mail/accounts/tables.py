"""The tables of sharing (who else may read an account or act in it, and who did what in a shared account), and of an
account's own addresses."""

from __future__ import annotations

from typing import Final

TABLES: Final = (
    """
    create table mail_shares (
        account_id text not null references mail_accounts (id) on delete cascade,
        user_id text not null,
        access text not null check (access in ('read', 'act')),
        since integer not null,
        primary key (account_id, user_id)
    ) strict, without rowid
    """,
    "create index mail_shares_user on mail_shares (user_id)",
    """
    create table mail_acts (                    -- actions of people in shared accounts; the newest of each thread
        id integer primary key,
        account_id text not null references mail_accounts (id) on delete cascade,
        thread_id text not null,
        message_id text,                        -- the message that was sent
        user_id text not null,
        what text not null,
        at integer not null
    ) strict
    """,
    "create index mail_acts_thread on mail_acts (thread_id, id)",
    "create index mail_acts_account on mail_acts (account_id)",
)

OWN_ADDRESSES: Final = (
    """
    create table mail_own_addresses (           -- aliases: other addresses that mail of the account may be from
        account_id text not null references mail_accounts (id) on delete cascade,
        address text not null,                  -- lower case
        name text not null,                     -- the name in From; empty: the account's name
        source text not null check (source in ('provider', 'person')),
        confirmed integer not null,             -- 0: the provider does not send from it yet
        told_default integer not null,          -- 1: the provider's default for new mail
        primary key (account_id, address)
    ) strict, without rowid
    """,
    "alter table mail_accounts add column default_address text",  # the owner's choice; null: none
    "alter table mail_drafts add column from_address text",  # null: the server chooses
)
