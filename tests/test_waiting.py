"""What waits on real time waits for a named event, or by ``until``, which says what it waited for. Nothing just sleeps.

A test on virtual time may sleep: it costs nothing, and the length is the point. So ``trio.sleep`` is forbidden only in
tests with the marker ``wall_clock``, and in what they use of the tests' own modules.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.virtual_time import MARKER

TESTS: Final = Path(__file__).parent
WAITS: Final = {"support/waiting.py", "support/process.py", "support/browser.py", "support/warm.py"}
"""They ask again and again, and say what they waited for."""
SLOW_PEERS: Final = MappingProxyType(
    {
        "mcp/odd_server.py": "a server that hangs",
        "peers/gmail_shim.py": "a program of its own: a server that is slow, and one that waits for its emulator",
        "mail/scripted_http.py": "answers that take a while",
        "support/http.py": "answers that come piece by piece, or never",
        "web/fake_server.py": "answers that come late",
        "protocol/test_egress.py": "servers that drip, and a client that reads late",
    }
)
"""For them, to be slow is what is tested."""

Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Module:
    path: Path
    top: Mapping[str, Node]
    imported: Mapping[str, tuple[Path, str]]
    """By local name: the file below ``tests`` and the name there."""
    is_marked: bool

    @property
    def name(self) -> str:
        return self.path.relative_to(TESTS).as_posix()


@cache
def module(path: Path) -> Module:
    tree = ast.parse(path.read_text())
    top = {node.name: node for node in tree.body if isinstance(node, Node)}
    return Module(path=path, top=top, imported=dict(_imports(tree)), is_marked=_has_marked_all(tree))


def _imports(tree: ast.Module) -> Iterator[tuple[str, tuple[Path, str]]]:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests."):
            path = TESTS.parent / f"{(node.module or '').replace('.', '/')}.py"
            for one in node.names:
                if path.exists():
                    yield one.asname or one.name, (path, one.name)


def _has_marked_all(tree: ast.Module) -> bool:
    assigned = (node for node in tree.body if isinstance(node, ast.Assign))
    return any(ast.unparse(node.targets[0]) == "pytestmark" and MARKER in ast.unparse(node.value) for node in assigned)


def _is_on_real_time(found: Module, node: Node) -> bool:
    return found.is_marked or any(MARKER in ast.unparse(one) for one in node.decorator_list)


def _used_on_real_time() -> set[tuple[Path, str]]:
    """Every function and class of the tests that a test on real time names, or that one of those names."""
    found: set[tuple[Path, str]] = set()
    left = [
        (path, name)
        for path in TESTS.rglob("test_*.py")
        if MARKER in path.read_text()
        for name, node in module(path).top.items()
        if _is_on_real_time(module(path), node)
    ]
    while left:
        path, name = left.pop()
        if (path, name) in found or (node := module(path).top.get(name)) is None:
            continue
        found.add((path, name))
        left.extend(_named_in(path, node))
    return found


def _named_in(path: Path, node: Node) -> Iterator[tuple[Path, str]]:
    """Functions and classes that it calls, and its fixtures."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    for name in names | {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}:
        if name in module(path).top:
            yield path, name
        elif name in module(path).imported:
            yield module(path).imported[name]
        else:
            yield from ((one, name) for one in _conftests(path) if name in module(one).top)


def _conftests(path: Path) -> list[Path]:
    folders = [folder for folder in path.parents if folder.is_relative_to(TESTS)]
    return [folder / "conftest.py" for folder in folders if (folder / "conftest.py").exists()]


def _calls(node: ast.AST, *wanted: str) -> list[int]:
    return [
        one.lineno for one in ast.walk(node) if isinstance(one, ast.Call) and ast.unparse(one.func).endswith(wanted)
    ]


def test_no_test_on_real_time_sleeps() -> None:
    may = WAITS | SLOW_PEERS.keys()
    found = [
        f"{module(path).name}:{line} {name}"
        for path, name in sorted(_used_on_real_time())
        if module(path).name not in may
        for line in _calls(module(path).top[name], "trio.sleep")
    ]
    assert found == [], "wait for an event, or by tests.support.waiting.until"


def test_nothing_blocks_its_thread_for_a_while() -> None:
    may = WAITS | SLOW_PEERS.keys()
    paths = [path for path in sorted(TESTS.rglob("*.py")) if path.relative_to(TESTS).as_posix() not in may]
    found = [
        f"{path.relative_to(TESTS)}:{line}"
        for path in paths
        if (text := path.read_text()) and ("sleep" in text or "wait_for_timeout" in text)
        for line in _calls(ast.parse(text), "time.sleep", "wait_for_timeout")
    ]
    assert found == [], "wait for an event, or by tests.support.process.until or tests.support.browser.until"
