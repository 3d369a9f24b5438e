"""The tables of people."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from svc.people.tables import TABLES as TOGETHER_TABLES

MIGRATIONS = Migrations("people")


@MIGRATIONS(name="m001_people")
def m001_people(db: Database) -> None:
    for statement in _PEOPLE:
        db.execute(statement)


@MIGRATIONS(name="m002_suggestions")
def m002_suggestions(db: Database) -> None:
    for statement in _SUGGESTIONS:
        db.execute(statement)


@MIGRATIONS(name="m003_together")
def m003_together(db: Database) -> None:
    for statement in TOGETHER_TABLES:
        db.execute(statement)


_PEOPLE = (
    """
    create table people (
        id integer primary key,
        owner_id text,                          -- null: nobody's, until the instance is claimed
        address text not null,                  -- lower case
        name text not null,
        page_id text references pages (id) on delete set null,
        filing text not null check (filing in ('auto', 'user', 'skipped')),
        first_seen_at integer not null,
        last_seen_at integer not null,
        received integer not null default 0,
        sent integer not null default 0,
        weight real not null,                   -- the order of suggestions
        unique (owner_id, address)
    ) strict
    """,
    "create unique index people_nobodys on people (address) where owner_id is null",
    "create index people_weight on people (owner_id, weight desc)",
    "create index people_page on people (page_id)",
    """
    create table people_words (                 -- the words that find each person: `words.py`
        owner_id text not null,                 -- the person's; '' for nobody's
        word text not null,
        person_id integer not null,             -- people are never deleted
        primary key (owner_id, word, person_id)
    ) strict, without rowid
    """,
    """
    create table people_skipped (               -- the current setting, for code in a transaction
        domain text primary key                 -- or 'own'
    ) strict, without rowid
    """,
    "insert into people_skipped (domain) values ('own')",
)

_SUGGESTIONS = (
    # Of a person whom the owner never wrote to: whether to make a page is still open, or was declined.
    "alter table people add column suggestion text check (suggestion in ('open', 'dismissed'))",
    "create index people_suggested on people (owner_id, weight desc, id) where suggestion = 'open'",
)
