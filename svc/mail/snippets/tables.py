"""The table of snippets, as the migration ``m057_snippets`` makes it. Its meaning must never change."""

from __future__ import annotations

TABLES = (
    """
    create table mail_snippets (
        id text primary key,
        owner_id text,                          -- null: everybody's, until the instance is claimed
        name text not null,                     -- one word, as typed
        name_key text not null,                 -- unique: the name, case folded
        html text not null,                     -- as it may be shown and sent
        subject text not null,                  -- empty for none
        to_addresses text not null,             -- JSON arrays of mailboxes
        cc_addresses text not null,
        bcc_addresses text not null,
        updated_at integer not null
    ) strict
    """,
    "create unique index mail_snippets_name on mail_snippets (coalesce(owner_id, ''), name_key)",
)
