"""Who may import whom, and the house rules that a reader should be able to rely on."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

import pytest

from svc import mail
from svc.app import FEATURES
from svc.protocol import Access
from tests.imports import module_of, statements_of, tree_of
from tests.structure import (
    BASE,
    GROUND,
    INSIDE_MAIL,
    LAYERS,
    NAMED_AS_TYPES,
    PURE,
    ROOMS,
    TOP,
    Tree,
    against_mails_order,
    against_the_order,
    circles_of_packages,
    folders_without_a_row,
    ground_that_comes_back,
    loads_what_no_import_names,
    off_its_ground,
    past_a_face,
)
from tests.support.each import each_file

ROOT = Path(__file__).parent.parent
TREE = Tree(ROOT)
SOURCES = TREE.sources

ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 70


def words_of(path: Path) -> set[str]:
    return set(re.findall(r"\w+", path.read_text()))


def room_of(path: Path) -> str:
    return TREE.room(path)


def imports_of(path: Path) -> list[str]:
    """Every module that a file imports when it runs."""
    return [one.module for one in TREE.imports(path) if one.at_run_time]


@pytest.mark.thorough
@each_file(SOURCES, below=ROOT)
def test_a_module_imports_only_what_stands_below_it(path: Path) -> None:
    assert list(against_the_order(TREE, path)) == []


def test_every_type_that_is_named_against_the_order_is_still_named() -> None:
    named = {
        (TREE.room(path), one.module.split(".")[1])
        for path in SOURCES
        for one in TREE.imports(path)
        if one.module.startswith("svc.") and not one.at_run_time
    }
    assert named >= set(NAMED_AS_TYPES)


@each_file(SOURCES, below=ROOT)
def test_a_feature_is_imported_by_its_package_face_only(path: Path) -> None:
    assert list(past_a_face(TREE, path)) == []


@each_file(sorted((ROOT / "svc" / "mail").rglob("*.py")), below=ROOT)
def test_inside_mail_a_folder_imports_only_those_before_it(path: Path) -> None:
    assert list(against_mails_order(TREE, path)) == []


def test_mails_order_is_the_one_that_readers_are_shown() -> None:
    first_words = re.search(r"^  mail/ .*?\n(.*?)^  rules/", ARCHITECTURE, re.MULTILINE | re.DOTALL)
    assert first_words
    lines = [re.split(r"\s{2,}", line.strip())[0] for line in first_words[1].splitlines()]
    assert " ".join(lines).replace("/", "").split() == list(INSIDE_MAIL)
    told = re.search(r"::\n\n(.*?)\n\n", mail.__doc__ or "", re.DOTALL)
    assert told
    assert re.findall(r"\w+", told[1]) == list(INSIDE_MAIL)


def test_the_picture_of_who_imports_whom_is_true() -> None:
    picture = re.search(r"## Who may import whom\n\n(.*?)\n\n", ARCHITECTURE, re.DOTALL)
    assert picture
    shown = [frozenset(re.findall(r"\w+", part)) for part in picture[1].split("<-")]
    assert shown[:-4] == [BASE, ROOMS | PURE, *LAYERS]
    assert shown[-3] | shown[-2] | shown[-1] <= TOP


def test_mails_order_names_what_is_there() -> None:
    there = {path.name.removesuffix(".py") for path in (ROOT / "svc" / "mail").iterdir()}
    assert there - {"__init__", "__pycache__"} == set(INSIDE_MAIL)


@each_file(SOURCES, below=ROOT)
def test_a_package_within_a_folder_imports_only_its_ground(path: Path) -> None:
    assert list(off_its_ground(TREE, path)) == []


def test_no_ground_comes_back_to_what_stands_on_it() -> None:
    assert list(ground_that_comes_back(TREE)) == []


def test_every_ground_is_still_needed() -> None:
    imported = {
        (module_of(path.parent / "__init__.py", ROOT), one.module) for path in SOURCES for one in TREE.imports(path)
    }
    assert {(f"svc.{package}", f"svc.{name}") for package, names in GROUND.items() for name in names} <= imported


def test_packages_within_a_folder_import_each_other_in_no_circle() -> None:
    assert list(circles_of_packages(TREE)) == []


@each_file(SOURCES, below=ROOT)
def test_only_those_named_load_a_module_by_a_name_made_at_run_time(path: Path) -> None:
    assert list(loads_what_no_import_names(TREE, path)) == []


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        ("sqlite3", lambda path: room_of(path) == "store"),
        ("sqlite_utils", lambda path: room_of(path) in {"store", "feature"} or path.name == "migrations.py"),
        ("h11", lambda path: room_of(path) == "protocol"),
        ("wsproto", lambda path: room_of(path) == "protocol"),
        ("httpx2", lambda path: path.name == "egress.py"),
        # In a worker process, not in the service; and to know whether this is the main thread.
        # A lock stands between the thread that has a connection and the one that cuts it short.
        ("threading", lambda path: path.name in {"worker_limits.py", "stack_alarm.py", "database.py"}),
        ("psycopg", lambda path: room_of(path) == "control_plane"),
        ("asyncio", lambda path: False),
        # A thread that waits for a connection has no other clock.
        ("time", lambda path: path.name in {"clock.py", "watchdog.py", "worker_limits.py", "database.py"}),
    ],
)
def test_a_library_stands_only_in_the_room_that_owns_it(package: str, allowed: object) -> None:
    assert callable(allowed)
    guests = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if any(name.split(".")[0] == package for name in imports_of(path)) and not allowed(path)
    ]
    assert guests == []


def test_a_credential_is_reached_through_the_broker_and_no_other_door() -> None:
    features = {feature.name for feature in FEATURES} - {"capabilities"}
    guests = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if room_of(path) in features
        if {"secrets", "Secrets", "Keyring"} & words_of(path)
        for node in ast.walk(tree_of(path))
        if (isinstance(node, ast.Attribute) and node.attr == "secrets")
        or (isinstance(node, ast.ImportFrom) and {"Secrets", "Keyring"} & {alias.name for alias in node.names})
    ]
    assert guests == []


def test_the_fakes_are_chosen_in_one_place() -> None:
    """``app.features_of`` leaves them out or in. Nobody else asks, nor imports one."""
    asks = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if {"PROVIDERS", "is_fake"} & words_of(path)
        and {"PROVIDERS", "is_fake"} & {node.id for node in ast.walk(tree_of(path)) if isinstance(node, ast.Name)}
    ]
    assert asks == ["svc/app.py", "svc/settings.py"]
    wings = {"svc.fakes", "svc.demo"}
    guests = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if room_of(path) not in {"app", "fakes", "demo", "tryout"}
        and any(name.startswith(tuple(wings)) for name in imports_of(path))
    ]
    assert guests == []


def test_no_migration_calls_live_code() -> None:
    for path in SOURCES:
        if path.name in {"migrations.py", "tables.py"}:
            live = [name for name in imports_of(path) if name.startswith("svc.") and not name.endswith(".tables")]
            assert live == [], f"{path} would change its meaning with the code it calls"


@each_file(SOURCES, below=ROOT)
def test_a_module_is_short_and_says_what_it_is_for(path: Path) -> None:
    text = path.read_text()
    tree = tree_of(path)
    assert ast.get_docstring(tree), "it opens with what it does"
    assert text.count("\n") <= MAX_FILE_LINES
    for node in statements_of(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < MAX_FUNCTION_LINES, f"{node.name} is too long"


def test_every_feature_folder_stands_in_the_list() -> None:
    assert folders_without_a_row(TREE) == set()
    assert list(TREE.order) == [feature.name for feature in FEATURES]


def test_every_row_has_a_summary_and_an_access_of_its_own() -> None:
    names = [row.name for feature in FEATURES for row in feature.procedures]
    assert len(names) == len(set(names))
    for feature in FEATURES:
        declared = [(row.summary, row.access) for row in feature.routes]
        declared += [(row.summary, row.access) for row in feature.sockets]
        declared += [(row.summary, row.access) for row in feature.procedures]
        for summary, access in declared:
            assert summary
            assert access in get_args(Access)
