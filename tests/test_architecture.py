"""Who may import whom, and the house rules that a reader should be able to rely on."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from svc.app import FEATURES
from svc.protocol import Access
from tests.support.each import each_file

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "svc").rglob("*.py"))

BASE = {
    "durations",
    "inert",
    "errors",
    "clock",
    "principal",
    "ids",
    "config",
    "log",
    "machine",
    "backoff",
    "confinement",
    "landlock",
    "overlap",
    "exposition",
    "window",
}
ROOMS = {"nursery", "protocol", "store"}
PURE = {"formats"}
"""What workers run: it imports the base and nothing else, and every feature may use it."""

ABOVE_ROOMS = {
    "workspace",
    "feature",
    "settings",
    "reversal",
    "workflow",
    "command",
    "job",
    "capability",
    "check",
    "confinement",
    "erase",
    "file_reader",
    "metric",
    "listening",
    "switches",
    "doors",
    "worker",
    "control_plane",
}
OF_THE_WORKER = {"nursery", "protocol", "doors", "workspace", "workflow", "settings", "switches", "listening"}
"""What a worker process may load: nothing from which the store or a feature could be reached."""
OF_THE_CONTROL_PLANE = {"nursery", "protocol", "doors", "settings", "listening"}
"""What the escrow service may load: no feature, and nothing that opens a home."""
FIXTURES = {"demo"}
"""Data of the fakes; no feature."""

INSIDE_MAIL = (
    "settings",
    "wire",
    "model",
    "providers",
    "accounts",
    "threads",
    "changes",
    "sync",
    "search",
    "labelling",
    "bulk",
    "blocking",
    "authentication",
    "images",
    "proposing",
    "reading",
    "connecting",
    "sending",
    "snippets",
    "unsubscribing",
    "invitations",
    "sharing",
    "porting",
    "mending",
    "health",
    "ingest_steps",
    "service",
    "tables",
    "migrations",
    "owners",
    "commands",
    "feature",
)
"""Each folder or module of mail imports only those before it."""

SEAMS = {"svc.mail.providers.seam"}
"""Faces for those who stand behind them: a provider is written against its seam."""
TOP = {
    "app",
    "planes",
    "worker_child",
    "cli",
    "commands",
    "generate",
    "generate_bounds",
    "generate_types",
    "preflight",
    "describing",
    "doctor",
    "__main__",
}
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 70


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    """Every module a file imports at run time, absolute; what stands under ``if TYPE_CHECKING`` is left out."""
    return tuple(_imports_of(path))


def _imports_of(path: Path) -> Iterator[str]:
    for node in statements_of(tree_of(path), but=lambda one: "TYPE_CHECKING" in ast.unparse(one.test)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "svc":
                yield from (f"svc.{alias.name}" for alias in node.names)
            elif node.module == "svc.mail" and path.is_relative_to(ROOT / "svc" / "mail"):
                yield from (f"svc.mail.{alias.name}" for alias in node.names)
            else:
                yield node.module


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def statements_of(node: ast.AST, *, but: Callable[[ast.If], bool] = lambda one: False) -> Iterator[ast.AST]:
    """All statements below, without the expressions, which are most of a tree. ``but``: which ``if`` is left out."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for below in getattr(node, name, ()):
            if isinstance(below, ast.If) and but(below):
                continue
            yield below
            yield from statements_of(below, but=but)


def words_of(path: Path) -> set[str]:
    return set(re.findall(r"\w+", path.read_text()))


def room_of(path: Path) -> str:
    return path.relative_to(ROOT / "svc").parts[0].removesuffix(".py")


def rooms_imported(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imports_of(path) if name.startswith("svc.")} - {"__version__"}


@pytest.mark.thorough
@each_file(SOURCES, below=ROOT)
def test_a_module_imports_only_what_stands_below_it(path: Path) -> None:
    room = room_of(path)
    order = [feature.name for feature in FEATURES]
    if room in TOP or room == "__init__":
        return
    allowed = BASE | {room}
    if room in {"worker", "doors"}:
        allowed |= OF_THE_WORKER
    elif room == "control_plane":
        allowed |= OF_THE_CONTROL_PLANE
    elif room in ABOVE_ROOMS:
        allowed |= ROOMS | ABOVE_ROOMS
    elif room in FIXTURES:
        allowed |= PURE | set(order)
    elif room in order:
        allowed |= ROOMS | PURE | FIXTURES | ABOVE_ROOMS | set(order[: order.index(room)])
    assert rooms_imported(path) <= allowed


@each_file(SOURCES, below=ROOT)
def test_a_feature_is_imported_by_its_package_face_only(path: Path) -> None:
    features = {feature.name for feature in FEATURES}
    for name in imports_of(path):
        parts = name.split(".")
        if room_of(path) in TOP and parts[-1] == "feature":
            continue  # a package whose modules run in worker processes keeps its face light
        if name in SEAMS:
            continue
        if parts[0] == "svc" and len(parts) > 2 and parts[1] in features:
            assert parts[1] == room_of(path), f"{path.name} reaches into {name}"


MAIL_SOURCES = sorted((ROOT / "svc" / "mail").rglob("*.py"))


@each_file(MAIL_SOURCES, below=ROOT)
def test_inside_mail_a_folder_imports_only_those_before_it(path: Path) -> None:
    place = path.relative_to(ROOT / "svc" / "mail").parts[0].removesuffix(".py")
    if place == "__init__":
        return
    own = INSIDE_MAIL.index(place)
    for name in imports_of(path):
        parts = name.split(".")
        if parts[:2] == ["svc", "mail"] and len(parts) > 2:
            assert INSIDE_MAIL.index(parts[2]) <= own, f"{place} imports {name}"


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        ("sqlite3", lambda path: room_of(path) == "store"),
        ("sqlite_utils", lambda path: room_of(path) in {"store", "feature"} or path.name == "migrations.py"),
        ("h11", lambda path: room_of(path) == "protocol"),
        ("wsproto", lambda path: room_of(path) == "protocol"),
        ("httpx2", lambda path: path.name == "egress.py"),
        # In the worker it starts, not in the service; and to know whether this is the main thread.
        # A lock stands between the thread that has a connection and the one that cuts it short.
        ("threading", lambda path: path.name in {"process_pool.py", "stack_alarm.py", "database.py"}),
        ("psycopg", lambda path: room_of(path) == "control_plane"),
        ("asyncio", lambda path: False),
        # A thread that waits for a connection has no other clock.
        ("time", lambda path: path.name in {"clock.py", "watchdog.py", "process_pool.py", "database.py"}),
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
    folders = {path.name for path in (ROOT / "svc").iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert folders - ROOMS - PURE - FIXTURES - ABOVE_ROOMS == {feature.name for feature in FEATURES}


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
