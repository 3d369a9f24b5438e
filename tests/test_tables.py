"""Whoever owns a table writes it, and nobody reads a table of a feature that stands after its own."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from svc.app import FEATURES
from svc.erase import Left
from svc.feature import Feature, erases_of
from svc.mail.owners import ERASES
from svc.store import TABLES as STORE_TABLES
from svc.store import Tx
from svc.store.migrate import migrate
from svc.store.migrations import STORE_MIGRATIONS
from tests.statements import UNKNOWN, mentions
from tests.structure import Tree
from tests.tables import (
    FOLDER_OF,
    READS_LATER,
    WRITTEN_ONCE,
    Tables,
    faults_of,
    read_backward,
    untold,
    written_by_others,
)
from tests.test_architecture import ROOT, TREE

SCHEMA = (ROOT / "tests" / "golden" / "schema.sql").read_text()
IN_SCHEMA = frozenset(re.findall(r'^create (?:virtual )?table "?(\w+)', SCHEMA, re.IGNORECASE | re.MULTILINE))
INSIDE_SQLITE = re.compile(r"(?:mail|page)_search_fts_\w+|sqlite_\w+")

TABLES = Tables(TREE)


def test_no_migration_loses_a_trigger_with_its_table() -> None:
    """A table that is made anew takes its triggers along, those of other features, too: by them the replica, the files
    of pages and search hear of what changes. Who makes one anew makes its triggers anew; who drops one says so."""
    wanted: set[str] = set()
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.set_trace_callback(lambda statement: follow(statement, wanted))
    migrate(connection, [STORE_MIGRATIONS, *(feature.migrations for feature in FEATURES if feature.migrations)])
    connection.set_trace_callback(None)
    there = {name for (name,) in connection.execute("select name from sqlite_schema where type = 'trigger'")}
    connection.close()
    assert wanted
    assert there == wanted


def follow(statement: str, triggers: set[str]) -> None:
    words = statement.replace('"', " ").casefold().split()
    if words[:2] == ["create", "trigger"]:
        triggers.add(words[2])
    elif words[:2] == ["drop", "trigger"]:
        triggers.discard(words[-1].rstrip(";"))


def test_every_table_has_one_owner() -> None:
    declared = [*STORE_TABLES, *(table for feature in FEATURES for table in feature.tables)]
    assert len(declared) == len(set(declared))
    assert set(declared) == {name for name in IN_SCHEMA if not INSIDE_SQLITE.fullmatch(name)}


@pytest.mark.thorough
def test_every_statement_names_its_tables() -> None:
    assert list(untold(TABLES)) == []


def test_only_its_owner_writes_a_table() -> None:
    assert list(written_by_others(TABLES)) == []


def test_nobody_reads_a_table_of_a_later_owner() -> None:
    assert list(read_backward(TABLES)) == []


def test_every_exception_is_still_needed() -> None:
    read = {TABLES.key(one) for one in TABLES.mentions if not one.writes}
    written = {TABLES.key(one) for one in TABLES.mentions if one.writes}
    assert read >= set(READS_LATER)
    assert written >= set(WRITTEN_ONCE)
    assert {Path(place).name for place, _ in WRITTEN_ONCE} <= {"migrations.py", "tables.py"}


def test_every_owner_of_an_accounts_rows_lets_go_of_them() -> None:
    owners = {FOLDER_OF[table] for table in columns_named("account_id") if table in FOLDER_OF}
    assert {erase.__module__.split(".")[2] for erase in ERASES} >= owners


def test_what_stands_last_lets_go_first() -> None:
    def one(tx: Tx, *, account_id: str) -> Left:
        return "nothing"

    def two(tx: Tx, *, account_id: str) -> Left:
        return "nothing"

    def three(tx: Tx, *, account_id: str) -> Left:
        return "nothing"

    before = Feature(name="before", summary="", erases=(one, two))
    after = Feature(name="after", summary="", erases=(three,))
    assert erases_of((before, after)) == (three, two, one)


def columns_named(name: str) -> set[str]:
    """The tables that have such a column."""
    found = re.findall(r'^create table "?(\w+)"? ?\((.*?)^\)', SCHEMA, re.IGNORECASE | re.MULTILINE | re.DOTALL)
    return {table for table, columns in found if re.search(rf'^\s*"?{name}"? ', columns, re.MULTILINE)}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('tx.run("delete from users where id = :id")', [("users", True)]),
        ('tx.run("insert or ignore into users (id) values (1)")', [("users", True)]),
        ('tx.run(f"update users set {x} = 1")', [("users", True)]),
        ('tx.run(f"update {table} set a = 1")', [(UNKNOWN, True)]),
        ('tx.all(f"select {columns} from users u join files f on f.id = u.id")', [("users", False), ("files", False)]),
        ('_PART = "exists (select 1 from files)"', [("files", False)]),
        ('tx.run("insert into users select id from files on conflict do update set a = 1")',
         [("users", True), ("files", False)]),
        ('"""Docs: delete from users."""', []),
        ('tx.all("SELECT 1 FROM users JOIN files")', [("users", False), ("files", False)]),
        ('tx.all("select 1 from users u, files f where f.id = u.id")', [("users", False), ("files", False)]),
        ("tx.all('select 1 from \"users\"')", [("users", False)]),
        ('tx.all(f"select 1 from {table}")', [(UNKNOWN, False)]),
        ('tx.all(f"with one as (select 1 from {table}) select 1 from one")', [(UNKNOWN, False)]),
        ('_PART = f"exists (select 1 from {table})"', [(UNKNOWN, False)]),
        ('tx.all("select 1 from " + table)', [(UNKNOWN, False)]),
        ('tx.all("select 1 from {}".format(table))', [(UNKNOWN, False)]),
        ('tx.all("select 1 from %s" % table)', [(UNKNOWN, False)]),
        ('tx.run("delete from " + table)', [(UNKNOWN, True)]),
        ('_TABLE: Final = "users"\ntx.all(f"select 1 from {_TABLE}")', [("users", False)]),
        ('tx.all(f"select 1 from {_TABLE}")\n_TABLE = "users where id = 1"', [("users", False)]),
        ('from svc.other import TABLE\ntx.run(f"delete from {TABLE}")', [("files", True)]),
        ('from svc import other\ntx.run(f"delete from {other.TABLE}")', [("files", True)]),
        ('tx.run("create trigger gone after delete on users begin delete from files; end")',
         [("files", True), ("users", False)]),
        ('EVENT = "update of name, id on users"', [("users", False)]),
        ('raise Invalid(f"choose one from {names}")', []),
        ('tx.all("select 1 -- from users\\n")', []),
    ],
)  # fmt: skip
def test_a_statement_is_read_for_what_it_touches(source: str, found: list[tuple[str, bool]], tmp_path: Path) -> None:
    path = tmp_path / "svc" / "module.py"
    path.parent.mkdir()
    path.write_text(source)
    (path.parent / "other.py").write_text('TABLE = "files"')
    read = mentions(path, frozenset({"users", "files"}), tmp_path)
    assert [(one.table, one.writes) for one in read] == found


@pytest.mark.parametrize(
    ("place", "statement", "fault"),
    [
        ("pages/queries.py", "select 1 from rules", "reads rules"),
        ("pages/migrations.py", "create trigger x after insert on rules begin select 1; end", "reads rules"),
        ("rules/queries.py", "update pages set a = 1", "writes pages"),
        ("rules/migrations.py", "update pages set a = 1", "writes pages"),
        ("rules/migrations.py", "create trigger x after insert on rules begin delete from pages; end", "writes pages"),
        ("mail/threads/queries.py", "select 1 from mail_clean", "reads mail_clean"),
        ("mail/images/tables.py", "create trigger x after delete on mail_messages begin delete from mail_clean; end",
         "writes mail_clean"),
        ("mail/threads/tables.py", "create trigger x after insert on mail_threads begin delete from mail_accounts; end",
         "writes mail_accounts"),
        ("rules/queries.py", "select 1 from %s", "reads ?"),
        ("store/queries.py", "delete from %s", "writes ?"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_found(place: str, statement: str, fault: str, tmp_path: Path) -> None:
    owners = {"pages": "pages", "rules": "rules"} | dict.fromkeys(FOLDER_OF, "mail")
    app = "from svc import pages, mail, rules\nFEATURES: X = (pages.FEATURE, mail.FEATURE, rules.FEATURE)"
    for name, source in (("app.py", app), (place, f"tx.run({statement!r})")):
        path = tmp_path / "svc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    for folder in ("pages", "mail", "rules"):
        (tmp_path / "svc" / folder).mkdir(exist_ok=True)
        (tmp_path / "svc" / folder / "__init__.py").touch()
    assert faults_of(Tables(Tree(tmp_path), owners)) == [f"svc/{place}:1 {fault}"]
