"""The tables and columns of threads that came later: ``m016_references``, ``m017_drafts_apart`` and ``m019_joined``.
Nothing here may ever change its meaning."""

from __future__ import annotations

REFERENCES_TABLES = (
    """
    create table mail_references (              -- to which thread a message id belongs, where no provider says so
        account_id text not null references mail_accounts (id) on delete cascade,
        message_id_header text not null,        -- of a message that is here, or that one of them refers to
        thread_id text not null references mail_threads (id) on delete cascade,
        primary key (account_id, message_id_header)
    ) strict, without rowid
    """,
    "create index mail_references_thread on mail_references (thread_id)",
)

DRAFTS_APART = (
    "alter table mail_threads add column drafts integer not null default 0",  # of its messages: they are not sent yet
    """
    update mail_threads set drafts = (
        select count(*) from mail_messages m where m.thread_id = mail_threads.id
            and exists (select 1 from json_each(m.labels) where value = 'DRAFT')
    )
    where exists (select 1 from json_each(labels) where value = 'DRAFT')
    """,
)

JOINED_TABLES = (
    """
    create table mail_joined_threads (          -- ids of threads that became one with another: where they lead
        thread_id text primary key,
        became text not null references mail_threads (id) on delete cascade
    ) strict, without rowid
    """,
    "create index mail_joined_threads_became on mail_joined_threads (became)",
)
