"""The broker's table: who acquired which credential, never its value."""

from __future__ import annotations

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

MIGRATIONS = Migrations("capabilities")


@MIGRATIONS()
def m001_audit(db: Database) -> None:
    db.executescript(
        """
        create table capability_audit (
            seq integer primary key autoincrement,
            at integer not null,
            name text not null,
            actor text not null,
            purpose text not null,
            run_id text,
            outcome text not null check (outcome in ('granted', 'refused', 'missing'))
        ) strict;
        create index capability_audit_name on capability_audit (name, outcome, seq);
        create index capability_audit_at on capability_audit (at);
        """
    )
