"""The tables of the replica, and the triggers that queue a blob in the same transaction that names it."""

from __future__ import annotations

from typing import Final

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("replica")


@MIGRATIONS(name="m001_replica")
def m001_replica(db: Database) -> None:
    for statement in _TABLES:
        db.execute(statement)
    for name, event, value in NAMING:
        db.execute(_trigger(name, event, value))


@MIGRATIONS(name="m002_quoted_mail")
def m002_quoted_mail(db: Database) -> None:
    for name, event, value in NAMING:
        if value == _QUOTED:
            db.execute(f"drop trigger replica_{name}")
            db.execute(_trigger(name, event, value))


_TABLES = (
    """
    create table replica_state (        -- one row while there is a replica; the triggers check it
        id integer primary key check (id = 1),
        target text not null,           -- the rest of the row is about this target only
        swept_at integer,               -- when the queue was last compared with all references; null: not yet
        checked integer not null default 0,     -- the part of the copied blobs that is verified next
        keep_since integer,             -- the oldest recovery point that is kept
        last_at integer,                -- when the target took or confirmed a blob last
        problem text,                   -- of the target; null while it works
        problem_at integer
    ) strict
    """,
    """
    create table replica_blobs (        -- blobs that are in the replica, or must be copied or deleted there
        sha256 text primary key,
        state text not null check (state in ('waiting', 'held', 'unnamed', 'deleting')),
        named integer not null default 1,       -- counts how often a row began to refer to it
        buried integer not null default 0,      -- the target may have a tombstone of ours for it
        unnamed_at integer,             -- nothing refers to it since this time or before
        buried_at integer,              -- when the target took its tombstone
        attempts integer not null default 0,
        retry_at integer not null default 0,
        problem text                    -- why this one blob can't be copied
    ) strict, without rowid
    """,
    "create index replica_blobs_due on replica_blobs (state, retry_at)",
)

_KEY: Final = '"bodySha256":"'
_QUOTED: Final = (
    f"iif(instr(new.quoted, '{_KEY}') > 0, substr(new.quoted, instr(new.quoted, '{_KEY}') + {len(_KEY)}, 64), null)"
)
"""The blob that a quoted mail names, by string functions: a schema may not call ``json_extract`` where SQLite does not
trust it (3.40), and the mail would be rejected."""

NAMING: Final = (
    ("files_named", "insert on files", "new.sha256"),
    ("files_renamed", "update of sha256 on files", "new.sha256"),
    ("deleted_files_named", "insert on deleted_files", "new.sha256"),
    ("mail_body_named", "insert on mail_messages", "new.body_sha256"),
    ("mail_body_renamed", "update of body_sha256 on mail_messages", "new.body_sha256"),
    ("mail_raw_named", "insert on mail_messages", "new.raw_sha256"),
    ("mail_raw_renamed", "update of raw_sha256 on mail_messages", "new.raw_sha256"),
    ("mail_sent_named", "insert on mail_outgoing", "new.raw_sha256"),
    ("mail_sent_renamed", "update of raw_sha256 on mail_outgoing", "new.raw_sha256"),
    ("mail_quoted_named", "insert on mail_outgoing", _QUOTED),
    ("mail_quoted_renamed", "update of quoted on mail_outgoing", _QUOTED),
)
"""For each trigger: its name, its event, and the blob that is then named."""


def _trigger(name: str, event: str, value: str) -> str:
    """The trigger. A ``held`` blob stays held; one that was to be removed is wanted again."""
    return f"""
    create trigger replica_{name} after {event}
    when {value} is not null and exists (select 1 from replica_state) begin
        insert into replica_blobs (sha256, state) values ({value}, 'waiting')
        on conflict (sha256) do update set named = named + 1,
            state = iif(state in ('waiting', 'held'), state, 'waiting'),
            attempts = iif(state = 'held', attempts, 0), retry_at = iif(state = 'held', retry_at, 0),
            unnamed_at = null, buried_at = null;
    end
    """
