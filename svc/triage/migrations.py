"""The tables of triage."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("triage")


@MIGRATIONS(name="m001_triage")
def m001_triage(db: Database) -> None:
    for statement in _TABLES:
        db.execute(statement)


_TABLES = (
    """
    create table triage_people (                -- people who have it switched on
        owner text primary key,                 -- a user; empty: everybody, until the instance is claimed
        asks_model integer not null,            -- 1: the model is asked if the rules are not sure
        since integer not null
    ) strict, without rowid
    """,
    """
    create table triage_threads (               -- the kind of each thread, by its newest mail
        thread_id text primary key,
        account_id text not null,
        owner text not null,
        message_id text not null,
        kind text not null check (kind in ('reply', 'waiting', 'reading', 'receipt', 'calendar', 'other')),
        by text not null check (by in ('rule', 'model', 'person')),
        because text not null,
        at integer not null,                    -- the thread's place in its list
        seq integer not null                    -- of the event; if it is delivered again, it changes nothing
    ) strict, without rowid
    """,
    "create index triage_threads_kind on triage_threads (owner, kind, at desc, thread_id desc)",
    "create index triage_threads_account on triage_threads (account_id)",
    """
    create table triage_senders (               -- the kinds of senders, by a person's corrections
        owner text not null,
        address text not null,                  -- in lower case
        kind text not null,
        at integer not null,
        primary key (owner, address)
    ) strict, without rowid
    """,
)
