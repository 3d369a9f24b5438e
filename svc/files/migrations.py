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
    """One list in order for each owner, and one of all for who sees everything."""
    db.execute("create index files_uploads_of on files (owner_id, created_at desc, id desc) where origin = 'upload'")
    db.execute("create index files_uploads on files (created_at desc, id desc) where origin = 'upload'")
