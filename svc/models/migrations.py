"""The tables of models."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("models")


@MIGRATIONS(name="m001_models")
def m001_models(db: Database) -> None:
    for statement in _TABLES:
        db.execute(statement)


@MIGRATIONS(name="m002_run_ceilings")
def m002_run_ceilings(db: Database) -> None:
    db.execute(_RUN_CEILINGS)


_RUN_CEILINGS = """
    create table model_run_ceilings (           -- the most that one run may cost, if less than the general ceiling
        run_id text primary key references runs (id) on delete cascade,
        micros integer not null
    ) strict, without rowid
"""

_TABLES = (
    """
    create table model_calls (
        id integer primary key autoincrement,
        at integer not null,
        run_id text not null,                   -- may be deleted before its calls are
        user_id text,                           -- whose run; null: nobody's, until the instance is claimed
        model text not null,
        state text not null check (state in ('reserved', 'counted', 'estimated')),
        input_tokens integer not null,          -- at most, while it is reserved
        output_tokens integer not null,
        micros integer not null                 -- micro-dollars
    ) strict
    """,
    "create index model_calls_at on model_calls (at, micros, input_tokens, output_tokens, user_id)",
    "create index model_calls_run on model_calls (run_id)",
    """
    create table model_ceilings (               -- one row: what an admin chose
        id integer primary key check (id = 1),
        day_micros integer not null,
        run_micros integer not null,
        day_tokens integer not null
    ) strict
    """,
)
