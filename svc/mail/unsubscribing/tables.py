"""The table of unsubscribing, as ``m043_unsubscribing`` makes it. Its meaning must never change."""

from __future__ import annotations

TABLES = (
    """
    create table mail_unsubscribed (
        message_id text primary key references mail_messages (id) on delete cascade,
        method text not null check (method in ('one-click', 'mailto', 'link')),
        target text not null,                   -- the host or address that was asked to unsubscribe
        outcome text not null check (outcome in ('done', 'sent', 'opened', 'failed')),
        detail text,                            -- why it failed, in words
        at integer not null
    ) strict, without rowid
    """,
)

BY_MAIL = ("alter table mail_unsubscribed add column outgoing_id text",)  # the mail that asked for it
