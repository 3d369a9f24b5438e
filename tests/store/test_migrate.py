"""Migrations: killed anywhere, the schema is the old or the new one; a newer database is left alone."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from svc.clock import VirtualClock
from svc.nursery import ThreadPool
from svc.store import CannotOpen, NewerDatabase, Store, fresh_schema, schema_sql
from svc.store.migrate import migrate
from svc.store.migrations import STORE_MIGRATIONS
from tests.sizes import HANGS_S
from tests.store.conftest import NOTES

# Forks once for each statement of the migration, kills the child just there, and prints the schema it left.
KILLED_AT_EACH_STATEMENT = """
import hashlib, os, signal, sqlite3, sys
from svc.store.connections import open_writer
from svc.store.migrate import migrate, schema_sql
from svc.store.migrations import STORE_MIGRATIONS
from pathlib import Path
from sqlite_utils.migrations import Migrations

EXTRA = Migrations("extra")
for name in ["a", "b"]:
    script = f"create table {name} (id); create index {name}_id on {name} (id); insert into {name} values (1);"
    EXTRA(name=name)(lambda db, script=script: db.executescript(script))

def child(path, fatal):
    connection = open_writer(path)
    seen = 0
    def count(statement):
        nonlocal seen
        seen += 1
        if seen == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
    connection.set_trace_callback(count)
    migrate(connection, [STORE_MIGRATIONS, EXTRA])
    os._exit(0)

for fatal in range(1, 1000):
    path = Path(sys.argv[1]) / f"{fatal}.sqlite3"
    pid = os.fork()
    if pid == 0:
        child(path, fatal)
    _, status = os.waitpid(pid, 0)
    connection = sqlite3.connect(path)
    tables = connection.execute("select count(*) from sqlite_schema where type = 'table'").fetchone()[0]
    migrate(open_writer(path), [STORE_MIGRATIONS, EXTRA])
    print(tables, hashlib.sha256(schema_sql(sqlite3.connect(path)).encode()).hexdigest())
    if os.WIFEXITED(status):
        break
"""


def tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("select name from sqlite_schema where type = 'table'")}


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def test_the_store_brings_its_own_tables(path: Path, threads: ThreadPool) -> None:
    Store.open(path, clock=VirtualClock(), threads=threads, migrations=[NOTES]).close_now()
    assert tables(connect(path)) >= {"outbox", "events", "secrets", "meta", "notes"}


def test_a_database_brought_here_step_by_step_has_the_fresh_schema(path: Path) -> None:
    connection = connect(path)
    for step in STORE_MIGRATIONS.pending(Database(memory=True)):
        STORE_MIGRATIONS.apply(Database(connection), stop_before=step.name)
    migrate(connection, [STORE_MIGRATIONS])
    migrate(connection, [STORE_MIGRATIONS, NOTES])
    assert schema_sql(connection) == fresh_schema([NOTES])
    assert "strict" in fresh_schema([])


def test_the_password_of_a_mailbox_is_known_as_given_by_a_person_also_in_an_older_home(path: Path) -> None:
    connection = connect(path)
    STORE_MIGRATIONS.apply(Database(connection), stop_before="m008_passwords_are_given_by_a_person")
    for name in ("idp.oauth.mia@example.org", "mail.imap.mia@example.org"):
        connection.execute("insert into secrets values (?, ?, 1, x'00', x'00', 'key', 0, null, 'oauth')", (name, name))
    migrate(connection, [STORE_MIGRATIONS])
    assert list(connection.execute("select source from secrets order by name")) == [("oauth",), ("user",)]


def test_a_second_boot_changes_nothing(path: Path, threads: ThreadPool) -> None:
    for _ in range(2):
        Store.open(path, clock=VirtualClock(), threads=threads, migrations=[NOTES]).close_now()
    applied = connect(path).execute(f"select count(*) from {Migrations.migrations_table}").fetchone()
    assert applied == (len(STORE_MIGRATIONS.pending(Database(memory=True))) + 1,)


def test_a_migration_that_fails_leaves_the_old_schema_whole(path: Path) -> None:
    good, bad = Migrations("good"), Migrations("bad")

    @good()
    def m001(db: Database) -> None:
        db.executescript("create table one (id integer primary key) strict;")

    @bad(name="m001")
    def fails(db: Database) -> None:
        db.executescript("create table two (id integer primary key) strict; insert into nowhere values (1);")

    connection = connect(path)
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(connection, [good, bad])
    assert tables(connection) == set()
    assert connection.execute("pragma foreign_keys").fetchone() == (1,)
    migrate(connection, [good])
    assert "one" in tables(connection)


def test_a_migration_may_rebuild_a_table_that_others_point_to(path: Path) -> None:
    connection = connect(path)
    migrate(connection, [NOTES])
    connection.execute("insert into notes (id, text) values (1, 'a')")
    connection.execute("insert into replies (note) values (1)")
    rebuild = Migrations("rebuild")

    @rebuild()
    def m001(db: Database) -> None:
        db.executescript(
            """
            create table notes_new (id integer primary key, text text, starred integer default 0) strict;
            insert into notes_new (id, text) select id, text from notes;
            drop table notes;
            alter table notes_new rename to notes;
            """
        )

    migrate(connection, [NOTES, rebuild])
    assert connection.execute("select text, starred from notes").fetchall() == [("a", 0)]
    assert connection.execute("pragma foreign_key_check").fetchall() == []


def test_a_migration_that_orphans_rows_is_undone(path: Path) -> None:
    connection = connect(path)
    migrate(connection, [NOTES])
    connection.execute("insert into notes (id, text) values (1, 'a')")
    connection.execute("insert into replies (note) values (1)")
    careless = Migrations("careless")

    @careless()
    def m001(db: Database) -> None:
        db.execute("delete from notes")

    with pytest.raises(CannotOpen, match="replies"):
        migrate(connection, [NOTES, careless])
    assert connection.execute("select count(*) from notes").fetchone() == (1,)


def test_a_newer_database_is_refused_and_left_alone(path: Path, threads: ThreadPool) -> None:
    newer = Migrations("notes")
    for step in NOTES.pending(Database(memory=True)):
        newer(name=step.name)(step.fn)

    @newer()
    def m002_later(db: Database) -> None:
        db.executescript("create table later (id integer primary key) strict;")

    Store.open(path, clock=VirtualClock(), threads=threads, migrations=[newer]).close_now()
    before = path.read_bytes()
    with pytest.raises(NewerDatabase, match=r"notes\.m002_later"):
        Store.open(path, clock=VirtualClock(), threads=threads, migrations=[NOTES])
    assert path.read_bytes() == before


@pytest.mark.thorough
def test_killed_at_any_statement_the_schema_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED_AT_EACH_STATEMENT, str(tmp_path)]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=HANGS_S)
    lines = [line.split() for line in output.stdout.splitlines()]
    left_behind = [int(count) for count, _ in lines]
    assert len(lines) > 20
    assert set(left_behind) == {0, left_behind[-1]}
    assert len({digest for _, digest in lines}) == 1  # the next boot always arrives at the same schema


def test_the_schema_dump_hides_what_nobody_wrote(path: Path) -> None:
    connection = connect(path)
    connection.execute("create virtual table words using fts5 (text)")
    connection.execute("create table b (id integer primary key autoincrement, a unique)")
    connection.execute("create index b_a on b (a)")
    connection.execute("create view v as select 1")
    dump = schema_sql(connection)
    assert [line.split(" (")[0].split(" using")[0].lower() for line in dump.splitlines() if line] == [
        "create table b",
        "create virtual table words",
        "create index b_a on b",
        "create view v as select 1;",
    ]
