"""The tables of pictures in mail, as ``m005_images``, ``m008_forgetting`` and ``m042_authentication`` make
them.

The meaning of these statements must never change.
"""

from __future__ import annotations

TABLES = (
    """
    create table mail_remote_images (           -- the remote pictures of each body; filled when it is sanitized
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
)

BOUND = (
    # 1: shown only in mail that is verified to come from the sender's domain. Older rows are not bound yet.
    "alter table mail_trusted_senders add column bound integer not null default 0",
)

OF_A_GONE_BODY = "delete from mail_remote_images where body_sha256 = old.body_sha256"
"""A part of the trigger ``mail_body_gone``, which `reading` makes."""

FORGETTING = (
    "create index mail_remote_images_body on mail_remote_images (body_sha256)",
    "delete from mail_remote_images where body_sha256 not in (select body_sha256 from mail_messages)",
)
