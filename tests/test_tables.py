"""Whoever owns a table writes it, and nobody reads a table of a feature that stands after its own."""

from __future__ import annotations

import re
import sqlite3
from functools import cache
from pathlib import Path

import pytest

from svc.app import FEATURES
from svc.erase import Left
from svc.feature import Feature, erases_of
from svc.mail.owners import ERASES, OWNERS
from svc.store import TABLES as STORE_TABLES
from svc.store import Tx
from svc.store.migrate import migrate
from svc.store.migrations import STORE_MIGRATIONS
from tests.statements import UNKNOWN, Mention, mentions
from tests.structure import INSIDE_MAIL
from tests.test_architecture import ROOT, SOURCES, room_of

ORDER = ["store", *(feature.name for feature in FEATURES)]
FEATURE_OF = {
    **dict.fromkeys(STORE_TABLES, "store"),
    **{table: feature.name for feature in FEATURES for table in feature.tables},
}
FOLDER_OF = {table: folder for folder, tables in OWNERS.items() for table in tables}
SCHEMA = (ROOT / "tests" / "golden" / "schema.sql").read_text()
IN_SCHEMA = frozenset(re.findall(r'^create (?:virtual )?table "?(\w+)', SCHEMA, re.IGNORECASE | re.MULTILINE))
INSIDE_SQLITE = re.compile(r"(?:mail|page)_search_fts_\w+|sqlite_\w+")

READS_LATER = {
    ("svc/pages/writing.py", "files"): "a page may show only files that its writer may read. The insert decides it for"
    " all files of a page in one statement; files stand after pages, since who reads a page reads its files",
    ("svc/mail/accounts/queries.py", "mail_mirror"): "an account tells how many changes wait. A column that counts them"
    " would be one more write for each change queued and confirmed; the table is short",
    (
        "svc/mail/accounts/queries.py",
        "mail_threads",
    ): "which of an owner's accounts a member sees is each one's own, and"
    " what Unified counts once for them follows from it. A column would be one for each member and account",
}
"""The reads backward that there are, each with its reason. Nothing is added here without one."""


@cache
def statements() -> tuple[Mention, ...]:
    """Read once for all tests: it parses the whole service."""
    read = [path for path in SOURCES if path.name not in {"migrations.py", "tables.py"}]
    return tuple(one for path in read for one in mentions(path, frozenset(FEATURE_OF)))


def told(one: Mention) -> str:
    return f"{one.path.relative_to(ROOT)}:{one.line} {'writes' if one.writes else 'reads'} {one.table}"


def place_in_mail(path: Path) -> str:
    return path.relative_to(ROOT / "svc" / "mail").parts[0].removesuffix(".py")


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
def test_no_table_is_written_whose_name_is_put_in_at_run_time() -> None:
    assert [told(one) for one in statements() if one.table == UNKNOWN and one.writes] == []


def test_only_its_feature_writes_a_table() -> None:
    foreign = [
        one
        for one in statements()
        if one.writes and one.table != UNKNOWN and FEATURE_OF[one.table] != room_of(one.path)
    ]
    assert [told(one) for one in foreign] == []


def test_no_feature_reads_a_table_of_a_later_one() -> None:
    backward = [
        one
        for one in statements()
        if not one.writes
        and one.table != UNKNOWN
        and room_of(one.path) in ORDER
        and ORDER.index(FEATURE_OF[one.table]) > ORDER.index(room_of(one.path))
    ]
    assert [told(one) for one in backward if key(one) not in READS_LATER] == []


def test_inside_mail_only_its_folder_writes_a_table() -> None:
    foreign = [
        one
        for one in statements()
        if one.writes and one.table in FOLDER_OF and FOLDER_OF[one.table] != place_in_mail(one.path)
    ]
    assert [told(one) for one in foreign] == []


def test_inside_mail_no_folder_reads_a_table_of_a_later_one() -> None:
    backward = [
        one
        for one in statements()
        if not one.writes
        and room_of(one.path) == "mail"
        and one.table in FOLDER_OF
        and INSIDE_MAIL.index(FOLDER_OF[one.table]) > INSIDE_MAIL.index(place_in_mail(one.path))
    ]
    assert [told(one) for one in backward if key(one) not in READS_LATER] == []


def test_every_exception_is_still_needed() -> None:
    assert {key(one) for one in statements()} >= set(READS_LATER)


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


def key(one: Mention) -> tuple[str, str]:
    return (str(one.path.relative_to(ROOT)), one.table)


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
        ('tx.all("select 1 -- from users\\n")', []),
    ],
)  # fmt: skip
def test_a_statement_is_read_for_what_it_touches(source: str, found: list[tuple[str, bool]], tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(source)
    assert [(one.table, one.writes) for one in mentions(path, frozenset({"users", "files"}))] == found
