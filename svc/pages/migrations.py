"""The tables of pages."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("pages")


@MIGRATIONS(name="m001_pages")
def m001_pages(db: Database) -> None:
    for statement in _PAGES:
        db.execute(statement)


_PAGES = (
    """
    create table pages (
        id text primary key,
        path text not null unique,
        title text not null,
        kind text not null check (kind in ('page', 'surface')),
        owner_id text,                  -- null: nobody's, until the instance is claimed
        access text not null check (access in ('inherited', 'explicit')),
        source_id text references pages (id) on delete set null,    -- whose grants apply; null: only the owner's access
        revision integer not null,      -- the current one
        created_at integer not null,
        updated_at integer not null
    ) strict
    """,
    "create index pages_source on pages (source_id)",
    "create index pages_owner on pages (owner_id)",
    """
    create table page_revisions (
        page_id text not null references pages (id) on delete cascade,
        revision integer not null,      -- 1, 2, 3, …
        title text not null,
        author_id text,
        device_id text not null,
        at integer not null,
        body text not null,
        primary key (page_id, revision)
    ) strict
    """,
    """
    create table page_grants (
        page_id text not null references pages (id) on delete cascade,
        grantee text not null,          -- a user id, or 'everyone'
        level text not null check (level in ('read', 'write')),
        primary key (page_id, grantee)
    ) strict, without rowid
    """,
    "create index page_grants_grantee on page_grants (grantee)",
    """
    create table page_links (           -- links in the current bodies
        target_path text not null,      -- of a page that may or may not exist
        page_id text not null references pages (id) on delete cascade,
        primary key (target_path, page_id)
    ) strict, without rowid
    """,
    "create index page_links_page on page_links (page_id)",
    """
    create table page_files (           -- files in the current bodies whose author could read them
        file_id text not null,
        page_id text not null references pages (id) on delete cascade,
        primary key (file_id, page_id)
    ) strict, without rowid
    """,
    "create index page_files_page on page_files (page_id)",
)


@MIGRATIONS(name="m002_trash")
def m002_trash(db: Database) -> None:
    for statement in _TRASH:
        db.execute(statement)


_TRASH = (
    """
    create table page_trash (           -- deleted pages; only the trash shows them
        id text primary key,
        deletion_id text not null,      -- pages with the same id were deleted together
        is_top integer not null,        -- nothing of the same owner above it was deleted with it
        path text not null,
        title text not null,
        owner_id text,
        access text not null check (access in ('inherited', 'explicit')),
        revision integer not null,
        created_at integer not null,
        updated_at integer not null,
        deleted_at integer not null,
        deleted_by text,                -- a user id; null: not a person, or an instance without an owner
        unique (deletion_id, path)
    ) strict
    """,
    "create index page_trash_deleted on page_trash (deleted_at)",
    "create index page_trash_owner on page_trash (owner_id, deleted_at) where is_top = 1",
    """
    create table page_trash_revisions (
        page_id text not null references page_trash (id) on delete cascade,
        revision integer not null,
        title text not null,
        author_id text,
        device_id text not null,
        at integer not null,
        body text not null,
        primary key (page_id, revision)
    ) strict
    """,
    """
    create table page_trash_grants (
        page_id text not null references page_trash (id) on delete cascade,
        grantee text not null,
        level text not null check (level in ('read', 'write')),
        primary key (page_id, grantee)
    ) strict, without rowid
    """,
    """
    create table page_trash_files (     -- files in the bodies whose author could read them
        page_id text not null references page_trash (id) on delete cascade,
        file_id text not null,
        primary key (page_id, file_id)
    ) strict, without rowid
    """,
)


@MIGRATIONS(name="m003_managed")
def m003_managed(db: Database) -> None:
    for statement in _MANAGED:
        db.execute(statement)


_MANAGED = (
    """
    create table page_managers (        -- tasks of the service that keep pages in sync with another place
        id text primary key,            -- the device id of the loop
        editable integer not null       -- whether people may change its pages here, too
    ) strict
    """,
    """
    create table page_managed (
        page_id text primary key references pages (id) on delete cascade,
        manager_id text not null references page_managers (id) on delete cascade,
        file text,                      -- null, like the commit: created here and not in the other place yet
        commit_id text,
        url text,
        in_conflict integer not null default 0      -- the two versions differ, and a person has to choose
    ) strict
    """,
    "create index page_managed_manager on page_managed (manager_id)",
    """
    create table page_edits (           -- edits of managed pages by people, until the manager has applied them
        seq integer primary key autoincrement,
        id text not null unique,
        manager_id text not null references page_managers (id) on delete cascade,
        kind text not null check (kind in ('save', 'move', 'delete', 'access', 'undelete')),
        author_id text,                 -- null: no person, or the service itself
        at integer not null
    ) strict
    """,
    """
    create table page_edit_pages (      -- null: the edit does not change it
        seq integer not null references page_edits (seq) on delete cascade,
        page_id text not null,
        was_path text,                  -- null: the page is new
        path text,                      -- null: it is deleted
        title text,
        body text,
        access text,
        grants text,                    -- JSON: [[address or 'everyone', level], …]
        primary key (seq, page_id)
    ) strict, without rowid
    """,
    "create index page_edit_pages_page on page_edit_pages (page_id)",
    "alter table page_trash add column manager_id text",  # the manager that gets it back when it is restored
)


@MIGRATIONS(name="m004_managed_by_whom")
def m004_managed_by_whom(db: Database) -> None:
    """The author and time of the file's last change; and its tags."""
    db.execute("alter table page_managed add column author text")
    db.execute("alter table page_managed add column at integer")
    db.execute("alter table page_managed add column tags text not null default '[]'")  # JSON


@MIGRATIONS(name="m005_search")
def m005_search(db: Database) -> None:
    """The full-text index; every existing page is queued for it."""
    for statement in _SEARCH:
        db.execute(statement)


_SEARCH = (
    """
    create table page_search (          -- the pages that search finds, the last changed one at the end
        id integer primary key autoincrement,
        page_id text not null unique,
        title text not null,            -- both as in the full-text table, which needs them for a delete
        body text not null
    ) strict
    """,
    """
    create virtual table page_search_fts using fts5 (
        title, body, content = 'page_search', content_rowid = 'id', prefix = '2 3',
        tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
    )
    """,
    """
    create table page_search_queue (    -- pages that are new, changed or deleted
        number integer primary key autoincrement,
        page_id text not null unique
    ) strict
    """,
    """
    create trigger page_search_made after insert on pages begin
        insert into page_search_queue (page_id)
        select new.id where new.id not in (select page_id from page_search_queue);
    end
    """,
    """
    create trigger page_search_revised after update of revision on pages begin
        insert into page_search_queue (page_id)
        select new.id where new.id not in (select page_id from page_search_queue);
    end
    """,
    """
    create trigger page_search_deleted after delete on pages begin
        insert into page_search_queue (page_id)
        select old.id where old.id not in (select page_id from page_search_queue);
    end
    """,
    "insert into page_search_queue (page_id) select id from pages",
)


@MIGRATIONS(name="m006_restored_from")
def m006_restored_from(db: Database) -> None:
    """The older revision whose text a revision has again."""
    db.execute("alter table page_revisions add column restored_from integer")
