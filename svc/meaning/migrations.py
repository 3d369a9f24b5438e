"""The tables of search by meaning, and the trigger that queues a page once its words are known."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("meaning")


@MIGRATIONS(name="m001_meaning")
def m001_meaning(db: Database) -> None:
    for statement in _TABLES:
        db.execute(statement)


_TABLES = (
    """
    create table meaning_people (               -- who has it switched on
        user_id text primary key,               -- empty: nobody, until the instance is claimed
        state text not null check (state in ('on', 'leaving')),     -- leaving: the vectors are being deleted
        at integer not null
    ) strict, without rowid
    """,
    """
    create table meaning_vectors (              -- one row for each piece of a text
        id integer primary key autoincrement,   -- never reused: memory may refer to a deleted one
        space text not null,                    -- the mail account's id, or `pages`; decides who may see it
        message_id text references mail_messages (id) on delete cascade,
        page_id text references pages (id) on delete cascade,
        part integer not null,
        form text not null,                     -- the model, its dimensions, and how texts are cut
        digest blob not null,                   -- of the piece, so that the same text is not paid for twice
        bits blob not null,                     -- the signs of the vector, eight a byte
        vector blob not null,                   -- one signed byte for each dimension; its length has no meaning
        check ((message_id is null) <> (page_id is null))
    ) strict
    """,
    "create index meaning_vectors_message on meaning_vectors (message_id) where message_id is not null",
    "create index meaning_vectors_page on meaning_vectors (page_id) where page_id is not null",
    "create index meaning_vectors_bits on meaning_vectors (space, form, id, bits)",
    """
    create table meaning_queue (                -- texts that wait for vectors; queued again, one gets a new number
        number integer primary key autoincrement,
        message_id text unique references mail_messages (id) on delete cascade,
        page_id text unique references pages (id) on delete cascade,
        owner_id text not null,                 -- as in meaning_people
        run_id text not null,                   -- empty: it is new or was changed
        check ((message_id is null) <> (page_id is null))
    ) strict
    """,
    "create index meaning_queue_run on meaning_queue (run_id)",
    """
    create table meaning_faults (               -- why a run can't continue, until the run has read it
        run_id text primary key,
        problem text not null
    ) strict, without rowid
    """,
    """
    create trigger meaning_page_read after insert on page_search begin
        insert or replace into meaning_queue (page_id, owner_id, run_id)
        select p.id, coalesce(p.owner_id, ''), '' from pages p
        where p.id = new.page_id and p.kind = 'page'
            and coalesce(p.owner_id, '') in (select user_id from meaning_people where state = 'on');
    end
    """,
)


@MIGRATIONS(name="m002_served_form")
def m002_served_form(db: Database) -> None:
    """The form of vectors that is searched for a person: the one that was last complete."""
    for statement in _SERVED:
        db.execute(statement)


_SERVED = (
    "alter table meaning_people add column form text",  # null: none was ever complete
    "alter table meaning_people add column swept integer not null default 1",  # 0: other forms are being deleted
    "update meaning_people set form = (select form from meaning_vectors group by form order by count(*) desc limit 1)",
)
