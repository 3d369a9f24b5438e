"""Migrates a database to this version's schema in one transaction: if killed, it is the old or the new one.

Owns the run over the migration sets and the canonical dump of the resulting schema. It never runs a migration outside a
transaction, and never touches a database that a newer version has written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final, cast

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from svc.store.faults import CannotOpen, NewerDatabase, OlderDatabase
from svc.store.migrations import STORE_MIGRATIONS

_BOOKKEEPING: Final = ("sqlite_", Migrations.migrations_table)
_TYPE_ORDER: Final = {"table": 0, "index": 1, "view": 2, "trigger": 3}


def migrate(connection: sqlite3.Connection, sets: Sequence[Migrations]) -> None:
    """Apply every pending migration of ``sets``, in order. Raises :class:`NewerDatabase`."""
    if not _pending(connection, sets):
        return
    database = Database(connection, recursive_triggers=False, execute_plugins=False)
    connection.execute("pragma foreign_keys = off")  # tables can only be rebuilt with them off; all are checked below
    try:
        connection.execute("begin immediate")
        for migrations in sets:
            migrations.apply(database)
        _refuse_dangling(connection)
        connection.execute("commit")
    finally:
        if connection.in_transaction:
            connection.execute("rollback")
        connection.execute("pragma foreign_keys = on")


def refuse_unmigrated(connection: sqlite3.Connection, sets: Sequence[Migrations]) -> None:
    """For read-only callers: raise unless the schema is exactly this version's."""
    if pending := _pending(connection, sets):
        raise OlderDatabase(
            f"the database is older than this version ({pending[0]} is missing); run `svc serve` once first"
        )


def schema_sql(connection: sqlite3.Connection) -> str:
    """The schema as SQL in canonical order, for review: no shadow tables, no bookkeeping."""
    shadows = {name for _, name, kind, *_ in connection.execute("pragma table_list") if kind == "shadow"}
    rows = connection.execute("select type, name, tbl_name, sql from sqlite_schema where sql is not null").fetchall()
    shown = [row for row in rows if row[2] not in shadows and not row[2].startswith(_BOOKKEEPING)]
    shown.sort(key=lambda row: (_TYPE_ORDER[row[0]], row[1]))
    return "".join(f"{_unindented(sql)};\n\n" for _, _, _, sql in shown).rstrip("\n") + "\n"


def fresh_schema(sets: Sequence[Migrations]) -> str:
    """:func:`schema_sql` of a new database with the store's tables and those of ``sets``."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(connection, (STORE_MIGRATIONS, *sets))
        return schema_sql(connection)
    finally:
        connection.close()


def _pending(connection: sqlite3.Connection, sets: Sequence[Migrations]) -> list[str]:
    """Raises :class:`NewerDatabase`. One query for all sets: to ask each of them is much of a boot."""
    applied = _applied(connection)
    known = dict.fromkeys((migrations.name, step.name) for migrations in sets for step in migrations.pending(_EMPTY))
    for set_name, name in applied:
        if (set_name, name) not in known:
            raise NewerDatabase(
                f"the database was written by a newer version of this program (it has {set_name}.{name}); "
                "start that version, or a newer one"
            )
    return [f"{set_name}.{name}" for set_name, name in known if (set_name, name) not in applied]


def _applied(connection: sqlite3.Connection) -> dict[tuple[str, str], None]:
    """In the order in which they ran."""
    table = Migrations.migrations_table
    if connection.execute("select 1 from sqlite_schema where name = ?", (table,)).fetchone() is None:
        return {}
    return dict.fromkeys(connection.execute(f"select migration_set, name from {table} order by id").fetchall())


class _Empty:
    """Stands for a database without tables, in the calls that a migration set makes when it lists its steps."""

    def __getitem__(self, name: str) -> _Empty:
        return self

    def exists(self) -> bool:
        return False


_EMPTY: Final = cast("Database", _Empty())


def _refuse_dangling(connection: sqlite3.Connection) -> None:
    if dangling := connection.execute("pragma foreign_key_check").fetchall():
        raise CannotOpen(
            f"a migration leaves rows without their parent: {dangling[0][:3]}. The database is as it was before"
        )


def _unindented(sql: str) -> str:
    return "\n".join(_without_common_indent(sql.splitlines()))


def _without_common_indent(lines: list[str]) -> Iterable[str]:
    """The first line starts at ``create``; the others keep their shape relative to each other."""
    first, *rest = (line.rstrip() for line in lines)
    indent = min((len(line) - len(line.lstrip()) for line in rest if line), default=0)
    yield first
    yield from (line[indent:] for line in rest)
