"""The tables of pictures in mail, as ``m005_images`` makes them. Nothing here may ever change its meaning."""

from __future__ import annotations

TABLES = (
    """
    create table mail_remote_images (           -- which bodies name which remote pictures; filled when one is sanitized
        url_sha256 text not null,
        body_sha256 text not null,
        primary key (url_sha256, body_sha256)
    ) strict, without rowid
    """,
    "create index mail_messages_body on mail_messages (body_sha256)",
    """
    create table mail_trusted_senders (         -- whose remote pictures are shown without asking
        owner_id text,                          -- null: everybody's, until the instance is claimed
        address text not null,                  -- lower case
        since integer not null,
        unique (owner_id, address)
    ) strict
    """,
    "create unique index mail_trusted_senders_nobodys on mail_trusted_senders (address) where owner_id is null",
    "alter table mail_clean add column warnings text not null default '[]'",  # JSON array of sentences
)
