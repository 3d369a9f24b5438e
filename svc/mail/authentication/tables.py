"""The tables of authentication, as ``m042_authentication`` makes them. Their meaning must never change."""

from __future__ import annotations

TABLES = (
    """
    create table mail_authentication (
        message_id text primary key references mail_messages (id) on delete cascade,
        found text not null,                    -- JSON: formats.authentication.Authentication
        asked integer not null,                 -- 1: the keys of its signatures were asked for
        until integer                           -- when it is to be looked at again; null: never
    ) strict, without rowid
    """,
    """
    create table mail_dkim_keys (               -- what the DNS says, for as long as it may be kept
        name text primary key,
        record blob,                            -- null: there is none
        until integer not null
    ) strict, without rowid
    """,
    "create index mail_dkim_keys_until on mail_dkim_keys (until)",
)
