"""The tables of authentication, as ``m042_authentication`` makes them. Their meaning must never change."""

from __future__ import annotations

TABLES = (
    """
    create table mail_authentication (
        message_id text primary key references mail_messages (id) on delete cascade,
        found text not null,                    -- JSON: formats.authentication.Authentication
        asked integer not null,                 -- 1: the DNS was asked for the keys of its signatures
        until integer                           -- when it is checked again; null: never
    ) strict, without rowid
    """,
    """
    create table mail_dkim_keys (               -- answers of the DNS, as long as they may be cached
        name text primary key,
        record blob,                            -- null: no such record
        until integer not null
    ) strict, without rowid
    """,
    "create index mail_dkim_keys_until on mail_dkim_keys (until)",
)
