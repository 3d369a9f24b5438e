"""The table of files."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("files")


@MIGRATIONS(name="m001_files")
def m001_files(db: Database) -> None:
    db.execute(
        """
        create table files (
            id text primary key,
            owner_id text,                  -- null: everybody's, until the instance is claimed
            sha256 text not null,
            name text not null,
            mime text not null,
            size integer not null,
            origin text not null,           -- 'upload', or 'mail:<message id>'
            created_at integer not null
        ) strict
        """
    )
    db.execute("create index files_sha256 on files (sha256)")
    db.execute("create index files_origin on files (origin)")


@MIGRATIONS(name="m002_uploads")
def m002_uploads(db: Database) -> None:
    """One sorted list for each owner, and one of all for callers that see everything."""
    db.execute("create index files_uploads_of on files (owner_id, created_at desc, id desc) where origin = 'upload'")
    db.execute("create index files_uploads on files (created_at desc, id desc) where origin = 'upload'")


@MIGRATIONS(name="m003_files_page")
def m003_files_page(db: Database) -> None:
    """Other sort orders, the space used, and recently deleted files."""
    for name, key in (("name", "name collate nocase, id"), ("size", "size desc, id desc")):
        db.execute(f"create index files_uploads_by_{name}_of on files (owner_id, {key}) where origin = 'upload'")
        db.execute(f"create index files_uploads_by_{name} on files ({key}) where origin = 'upload'")
    db.execute("drop index files_sha256")
    db.execute("create index files_sha256 on files (sha256, size)")  # the total space is read from this index only
    db.execute(
        """
        create table deleted_files (
            id text primary key,
            owner_id text,
            sha256 text not null,
            name text not null,
            mime text not null,
            size integer not null,
            created_at integer not null,
            deleted_at integer not null
        ) strict
        """
    )
    db.execute("create index deleted_files_at on deleted_files (deleted_at)")


@MIGRATIONS(name="m004_partial_uploads")
def m004_partial_uploads(db: Database) -> None:
    """Uploads in several calls. Their bytes so far are in ``blobs/.parts``."""
    db.execute(
        """
        create table partial_uploads (
            id text primary key,
            owner_id text,                  -- null: everybody's, until the instance is claimed
            length integer not null,
            stored integer not null,        -- bytes that are durable
            name text not null,
            mime text not null,
            metadata text not null,         -- as the client gave it
            sha256 text,                    -- of the whole content, while it becomes a blob
            file_id text,                   -- the file that it became
            created_at integer not null,
            changed_at integer not null
        ) strict
        """
    )
    db.execute("create index partial_uploads_of on partial_uploads (owner_id) where file_id is null")
    db.execute("create index partial_uploads_at on partial_uploads (changed_at)")
