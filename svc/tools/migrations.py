"""The tables of tools: what each run may use, what it called, and which runs and pages have text from outside."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("tools")


@MIGRATIONS(name="m001_tools")
def m001_tools(db: Database) -> None:
    for statement in _TABLES:
        db.execute(statement)


_TABLES = (
    """
    create table run_tools (                -- the tools a run got at its start; nothing it reads changes them
        run_id text primary key references runs (id) on delete cascade,
        tools text not null,
        approvals text not null
    ) strict, without rowid
    """,
    """
    create table run_trust (                -- runs that read text from outside, and the source of the first one
        run_id text primary key references runs (id) on delete cascade,
        source text not null,
        at integer not null
    ) strict, without rowid
    """,
    """
    create table page_trust (               -- pages that such a run wrote; rows of deleted pages do no harm
        page_id text primary key,
        run_id text not null,
        at integer not null
    ) strict, without rowid
    """,
    """
    create table tool_calls (               -- one row for each call, written before and after it
        run_id text not null references runs (id) on delete cascade,
        key text not null,
        tool text not null,
        input text not null,
        digest blob not null,
        state text not null check (state in ('asked', 'begun', 'working', 'done', 'failed', 'unknown')),
        waits text,                         -- the step of the run that waits for it
        at integer not null,
        ended_at integer,
        primary key (run_id, key)
    ) strict, without rowid
    """,
    "create index tool_calls_open on tool_calls (at) where state in ('begun', 'working')",
)


@MIGRATIONS(name="m002_marks_and_bounds")
def m002_marks_and_bounds(db: Database) -> None:
    """Pages that svc itself writes from mail and speech are from outside, too; an approval is for one call only."""
    for statement in _MARKS:
        db.execute(statement)


_MARKS = (
    """
    create trigger page_trust_made after insert on page_revisions
    when new.device_id in ('system:rules', 'system:meetings')
        or (new.device_id = 'system:people'
            and exists (select 1 from pages where id = new.page_id and path <> 'people'))
    begin
        insert into page_trust (page_id, run_id, at) values (new.page_id, new.device_id, new.at) on conflict do nothing;
    end
    """,
    """
    insert into page_trust (page_id, run_id, at)
    select r.page_id, min(r.device_id), max(r.at) from page_revisions r join pages p on p.id = r.page_id
    where r.device_id in ('system:rules', 'system:meetings') or (r.device_id = 'system:people' and p.path <> 'people')
    group by r.page_id on conflict do nothing
    """,
    "alter table tool_calls add column asked text",  # the step in which a person is asked about it
    """
    update tool_calls set asked = (
        select s.key from run_steps s
        where s.run_id = tool_calls.run_id and s.kind = 'approval' and json_extract(s.input, '$.call') = tool_calls.key
        order by s.position desc limit 1
    )
    where state in ('asked', 'unknown')
    """,
)


@MIGRATIONS(name="m003_older_texts")
def m003_older_texts(db: Database) -> None:
    """A person's word for a page is not for the texts that it had before: if one is restored, the mark is back."""
    for statement in _OLDER_TEXTS:
        db.execute(statement)


_OLDER_TEXTS = (
    """
    create table page_vouched (             -- the last revision of a page that a person has vouched for
        page_id text primary key,
        revision integer not null
    ) strict, without rowid
    """,
    """
    create trigger page_trust_restored after insert on page_revisions
    when new.restored_from < (select revision from page_vouched where page_id = new.page_id)
    begin
        insert into page_trust (page_id, run_id, at) values (new.page_id, '', new.at) on conflict do nothing;
    end
    """,
)
