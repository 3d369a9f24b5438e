"""The tables of agents."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("agents")


@MIGRATIONS(name="m001_agents")
def m001_agents(db: Database) -> None:
    for statement in _TABLES:
        db.execute(statement)


_TABLES = (
    """
    create table agent_runs (               -- what a run started with; a later change of the page has no effect on it
        run_id text primary key references runs (id) on delete cascade,
        agent text,                         -- the path of the agent's page; null: started with only a prompt
        page_id text,
        instructions text not null,
        model text not null,
        prompt text not null,
        continues text,                     -- the run whose conversation this one continues
        cause text unique,                  -- what triggered it; unique, so nothing triggers two runs
        at integer not null
    ) strict, without rowid
    """,
    "create index agent_runs_page on agent_runs (page_id, at) where cause is not null",
    """
    create table agent_said (               -- messages of the owner to a running run
        run_id text not null references agent_runs (run_id) on delete cascade,
        number integer not null,
        text text not null,
        at integer not null,
        primary key (run_id, number)
    ) strict, without rowid
    """,
    """
    create table agent_schedules (
        page_id text primary key,
        revision integer not null,          -- of the page; with another revision the schedule starts again
        next_at integer not null
    ) strict, without rowid
    """,
)
