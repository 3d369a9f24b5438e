"""The SQL statements in a tree of sources: which tables each writes and reads, by the text alone.

A name that is put in at run time is taken from the constant that it names, of the same module or of one that is
imported. What can't be told is :data:`UNKNOWN`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tests.imports import absolute, tree_of

UNKNOWN: Final = "?"
"""Stands where a name is put in at run time."""

_NAME: Final = r"[\"`\[]?([a-z_?][\w.?]*)"
_WRITES: Final = re.compile(
    rf"\b(?:insert(?: or \w+)? into|replace into|update(?: or \w+)?|delete from)\s+{_NAME}", re.IGNORECASE
)
_READS: Final = re.compile(rf"(?<!delete )\b(?:from|join)\s+{_NAME}", re.IGNORECASE)
_ALSO: Final = re.compile(rf"[\"`\]]?(?:\s+(?:as\s+)?\w+)?\s*,\s*{_NAME}", re.IGNORECASE)
"""The next table of a list, ``from a x, b y``."""
_FOLLOWED: Final = re.compile(rf"\b(?:insert|delete|update(?:\s+of\s+[\w, ]+?)?)\s+on\s+{_NAME}", re.IGNORECASE)
"""The event of a trigger: it hears of the table's changes, which is a way to read it."""
_COMMENTS: Final = re.compile(r"--[^\n]*")
_BEFORE_A_TABLE: Final = re.compile(r"\b(?:from|join|into|update)\s+$", re.IGNORECASE)
_HOLES: Final = re.compile(r"\b(from|join|into|update)\s+(?:\{\w*\}|%s|%\(\w+\)s|$)", re.IGNORECASE)
_STATEMENT: Final = re.compile(
    r"\A\s*(?:select|insert|update|delete|with|replace|create trigger)\b|\bselect\s.*\sfrom\b",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A table named in a statement, or :data:`UNKNOWN`."""

    path: Path
    line: int
    table: str
    writes: bool
    in_trigger: bool = False


def mentions(path: Path, tables: frozenset[str], root: Path | None = None) -> Iterator[Mention]:
    """Every mention of one of ``tables`` (and every one that can't be told) in the strings of a module. ``root``:
    where the modules are that it imports.
    """
    tree = tree_of(path)
    docs = {id(text) for text in _docstrings(tree)}
    nodes = list(ast.walk(tree))
    joined = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    inner = {id(part) for node in joined for part in ast.walk(node)} - {id(node) for node in joined}
    for node in nodes:
        if id(node) in docs or id(node) in inner:
            continue
        text = _text(node, lambda name: _constant(path, root, name))
        if text is None:
            continue
        text = _HOLES.sub(rf"\1 {UNKNOWN} ", _COMMENTS.sub("", text))
        in_trigger = "create trigger" in text.lower()
        for name, writes in _named(text):
            table = UNKNOWN if UNKNOWN in name else name.lower()
            if table in tables or (table == UNKNOWN and _STATEMENT.search(text)):
                line = getattr(node, "lineno", 0)
                yield Mention(path=path, line=line, table=table, writes=writes, in_trigger=in_trigger)


def _named(text: str) -> Iterator[tuple[str, bool]]:
    """Each name that stands where a table does, and whether it is written."""
    yield from ((name, True) for name in _WRITES.findall(text))
    for found in _READS.finditer(text):
        one: re.Match[str] | None = found
        while one:
            yield one[1], False
            one = _ALSO.match(text, one.end())
    yield from ((name, False) for name in _FOLLOWED.findall(text))


def _text(node: ast.AST, constant: Callable[[str], str | None]) -> str | None:
    """The text of a string. A constant is put in where a table stands, so far as its first word."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    text = ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            text += str(part.value)
        else:
            value = None
            if isinstance(part, ast.FormattedValue) and _BEFORE_A_TABLE.search(text):
                value = constant(ast.unparse(part.value))
            text += value.split()[0] if value and value.strip() else UNKNOWN
    return text


def _constant(path: Path, root: Path | None, name: str) -> str | None:
    """The text of a module's constant, ``name`` or ``module.name``."""
    first, _, rest = name.partition(".")
    if not rest and first in _constants(path):
        return _constants(path)[first]
    module = _imported(path, root).get(first) if root else None
    if root is None or module is None:
        return None
    package, _, last = module.rpartition(".")
    if rest:
        return _constants_of_module(root, module).get(rest)
    return _constants_of_module(root, package).get(last)


def _constants_of_module(root: Path, module: str) -> Mapping[str, str]:
    folder = root.joinpath(*module.split("."))
    found = next((one for one in (folder.with_suffix(".py"), folder / "__init__.py") if one.is_file()), None)
    return _constants(found) if found else {}


@cache
def _constants(path: Path) -> Mapping[str, str]:
    """The texts that a module gives to names at its top. One whose name is given twice can't be told."""
    given: dict[str, list[ast.AST]] = {}
    for node in tree_of(path).body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.AST() as value):
                given.setdefault(name, []).append(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                given.setdefault(name, []).append(value)
    found = {name: _text(values[0], lambda name: None) for name, values in given.items() if len(values) == 1}
    return {name: text for name, text in found.items() if text is not None}


@cache
def _imported(path: Path, root: Path) -> Mapping[str, str]:
    """What each imported name of a module stands for, in full."""
    return {
        alias.asname or alias.name: f"{absolute(node, path, root)}.{alias.name}"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _docstrings(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
