"""The table of our draft copies at providers that give drafts ids, for mail's migrations."""

from __future__ import annotations

from typing import Final

NUMBERED_DRAFTS: Final = (
    """
    create table mail_provider_drafts (            -- copies of drafts that are, or may be, at a provider
        account_id text not null references mail_accounts (id) on delete cascade,
        copy text not null,                     -- the mark in its header, and the second of writing
        mark text not null,                     -- whose copy it is: the id of a draft here
        provider_draft_id text,                 -- null: it was being written, and the outcome is unknown
        provider_message_id text,
        primary key (account_id, copy)
    ) strict, without rowid
    """,
    "create index mail_provider_drafts_mark on mail_provider_drafts (account_id, mark)",
)
