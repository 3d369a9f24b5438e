"""The table of proposed replies, as the migration ``m062_proposed_replies`` makes it. This must never change."""

from __future__ import annotations

TABLES = (
    """
    create table mail_proposed_replies (
        id text primary key,
        thread_id text not null unique references mail_threads (id) on delete cascade,
        account_id text not null references mail_accounts (id) on delete cascade,
        message_id text not null,               -- the one that it answers
        to_addresses text not null,             -- JSON arrays of mailboxes
        cc_addresses text not null,
        subject text not null,
        html text not null,
        rule_id text not null,                  -- the page of the rule that drafted it
        made_at integer not null
    ) strict
    """,
    "create index mail_proposed_replies_account on mail_proposed_replies (account_id)",
)
