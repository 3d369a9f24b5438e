"""The tables of meetings."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("meetings")


@MIGRATIONS(name="m001_meetings")
def m001_meetings(db: Database) -> None:
    for statement in _TABLES:
        db.execute(statement)


_TABLES = (
    """
    create table meetings (
        id text primary key,
        owner_id text,                          -- null: everybody's, until the instance is claimed
        title text not null,
        format text not null check (format in ('pcm16', 'opus')),
        rate integer not null,
        state text not null check (state in ('recording', 'finishing', 'done')),
        started_at integer not null,
        ended_at integer,
        sound_ms integer not null default 0,
        file_id text,                           -- its sound; the file may have been deleted since
        page_id text,                           -- its page; likewise
        problem text not null default ''
    ) strict
    """,
    "create index meetings_of on meetings (owner_id, started_at desc, id desc)",
    "create index meetings_all on meetings (started_at desc, id desc)",
    "create index meetings_unfinished on meetings (id) where state <> 'done'",
    """
    create table meeting_lines (
        meeting_id text not null references meetings (id) on delete cascade,
        number integer not null,
        start_ms integer not null,
        end_ms integer not null,
        text text not null,
        speaker text,
        primary key (meeting_id, number)
    ) strict, without rowid
    """,
    """
    create table meeting_settings (             -- one row: what an admin chose
        id integer primary key check (id = 1),
        recogniser text not null check (recogniser in ('none', 'vendor', 'server', 'local')),
        server_url text not null,
        model text not null,
        language text not null
    ) strict
    """,
)
