"""The tables of mail rules."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("rules")


@MIGRATIONS(name="m001_rules")
def m001_rules(db: Database) -> None:
    for statement in _TABLES:
        db.execute(statement)


@MIGRATIONS(name="m002_habits")
def m002_habits(db: Database) -> None:
    for statement in _HABITS:
        db.execute(statement)


@MIGRATIONS(name="m003_left")
def m003_left(db: Database) -> None:
    """Why a rule that matched did nothing: the model gave no answer."""
    db.execute("alter table rule_acts add column problem text not null default ''")


_HABITS = (
    """
    create table rule_habits (                  -- what a person did with threads, by their senders
        owner text not null,                    -- a user; empty: everybody, until the instance is claimed
        address text not null,                  -- of the sender, in lower case
        deed text not null check (deed in ('archive', 'star', 'label')),
        value text not null,                    -- the label's name
        thread_id text not null,
        at integer not null,
        unique (owner, address, deed, value, thread_id)
    ) strict
    """,
    "create index rule_habits_thread on rule_habits (thread_id)",
    """
    create table rule_habits_seen (             -- one row: the last step that was read for habits
        id integer primary key check (id = 1),
        step_id integer not null
    ) strict
    """,
    """
    create table rule_never (                   -- suggestions that a person does not want
        owner text not null,
        address text not null,
        deed text not null,
        value text not null,
        at integer not null,
        primary key (owner, address, deed, value)
    ) strict, without rowid
    """,
)

_TABLES = (
    """
    create table rule_runs (                    -- one row for each mail that rules were applied to
        id text primary key,
        batch text not null,                    -- empty: as the mail came; else the run of `rules.apply`
        message_id text not null,
        thread_id text not null,
        owner_id text,
        at integer not null,
        state text not null check (state in ('asking', 'done', 'undone', 'failed')),
        changes text,                           -- JSON: the labels that were changed, for undo
        unique (message_id, batch)
    ) strict
    """,
    "create index rule_runs_thread on rule_runs (thread_id)",
    "create index rule_runs_batch on rule_runs (batch) where batch <> ''",
    "create index rule_runs_at on rule_runs (at)",
    """
    create table rule_acts (                    -- what each rule did
        run_id text not null references rule_runs (id) on delete cascade,
        place integer not null,
        rule_id text not null,                  -- its page
        rule_path text not null,
        because text not null,
        did text not null,                      -- JSON array
        primary key (run_id, place)
    ) strict, without rowid
    """,
    """
    create table rule_batches (                 -- the mails that a run applies rules to, as they were at its start
        run_id text not null,
        place integer not null,
        given text not null,                    -- JSON: the mail, the rules that matched, and what they ask
        primary key (run_id, place)
    ) strict, without rowid
    """,
)
