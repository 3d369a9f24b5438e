"""The tables of runs: runs, their steps, each try of a step, and approvals."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("runs")


@MIGRATIONS()
def m001_runs(db: Database) -> None:
    """``due_at``: when the dispatcher must look at a run: it is queued, its timer ends, or its lease expires."""
    db.executescript(
        """
        create table runs (
            id text primary key,
            workflow text not null,
            version integer not null,
            title text not null,
            user_id text,
            state text not null check (state in ('queued', 'running', 'waiting', 'done', 'failed', 'cancelled')),
            input text not null,
            output text,
            error text,
            parent_id text references runs (id) on delete set null,
            parent_key text,
            calls text not null,
            capabilities text not null,
            epoch integer not null default 0,
            token_digest blob,
            worker text,
            due_at integer,
            fruitless integer not null default 0,
            input_tokens integer,
            output_tokens integer,
            done integer,
            total integer,
            created_at integer not null,
            started_at integer,
            ended_at integer
        ) strict, without rowid;
        create index runs_due on runs (due_at) where due_at is not null;
        create index runs_newest on runs (created_at desc, id desc);
        create index runs_of_parent on runs (parent_id) where parent_id is not null;
        create index runs_of_worker on runs (worker) where state = 'running';

        create table run_steps (
            run_id text not null references runs (id) on delete cascade,
            key text not null,
            position integer not null,
            parent_key text,
            name text not null,
            kind text not null,
            state text not null check (state in ('waiting', 'done', 'failed')),
            input text not null,
            input_digest blob not null,
            output text,
            error text,
            attempts integer not null,
            due_at integer,
            started_at integer not null,
            ended_at integer,
            primary key (run_id, key)
        ) strict, without rowid;
        create index run_steps_due on run_steps (due_at) where due_at is not null;
        """
    )


@MIGRATIONS()
def m002_attempts_and_approvals(db: Database) -> None:
    """A repeated report of a try gets the same answer as the first one."""
    db.executescript(
        """
        create table run_attempts (
            run_id text not null references runs (id) on delete cascade,
            key text not null,
            attempt integer not null,
            state text not null,
            error text,
            answer text not null,
            started_at integer not null,
            ended_at integer not null,
            primary key (run_id, key, attempt)
        ) strict, without rowid;

        create table approvals (
            id text primary key,
            run_id text not null references runs (id) on delete cascade,
            key text not null,
            user_id text,
            tool text not null,
            summary text not null,
            input text not null,
            digest blob not null,
            state text not null check (state in ('open', 'approved', 'declined', 'expired', 'cancelled')),
            requested_at integer not null,
            expires_at integer not null,
            decided_at integer,
            decided_by text,
            decided_input text
        ) strict, without rowid;
        create unique index approvals_of_step on approvals (run_id, key);
        create index approvals_open on approvals (user_id, requested_at) where state = 'open';
        """
    )


@MIGRATIONS()
def m003_who_asked_and_what_was_shown(db: Database) -> None:
    """``device_id``: which device began the run. ``card``: the rows that a person is shown, as JSON, drawn from the
    call.
    """
    db.executescript(
        """
        alter table runs add column device_id text;
        alter table approvals add column card text;
        alter table approvals add column decided_digest blob;
        """
    )
