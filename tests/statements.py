"""The SQL statements in a tree of sources: which tables each writes and reads, by the text alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

UNKNOWN: Final = "?"
"""Stands where a name is put in at run time."""

_WRITES: Final = re.compile(
    r"\b(?:insert(?: or \w+)? into|replace into|update(?: or \w+)?|delete from)\s+([a-z_?][\w.?]*)"
)
_READS: Final = re.compile(r"(?<!delete )\b(?:from|join)\s+([a-z_?][\w.?]*)")
_COMMENTS: Final = re.compile(r"--[^\n]*")


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A table named in a statement, or :data:`UNKNOWN`."""

    path: Path
    line: int
    table: str
    writes: bool


def mentions(path: Path, tables: frozenset[str]) -> Iterator[Mention]:
    """Every mention of one of ``tables`` (and every one that can't be told) in the strings of a module."""
    tree = ast.parse(path.read_text())
    docs = {id(text) for text in _docstrings(tree)}
    nodes = list(ast.walk(tree))
    joined = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    inner = {id(part) for node in joined for part in ast.walk(node)} - {id(node) for node in joined}
    for node in nodes:
        if id(node) in docs or id(node) in inner:
            continue
        text = _text(node)
        if text is None:
            continue
        text = _COMMENTS.sub("", text)
        for pattern, writes in ((_WRITES, True), (_READS, False)):
            for name in pattern.findall(text):
                table = UNKNOWN if UNKNOWN in name else name
                if table in tables or (table == UNKNOWN and _is_statement(text)):
                    yield Mention(path=path, line=getattr(node, "lineno", 0), table=table, writes=writes)


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else UNKNOWN
            for part in node.values
        )
    return None


def _is_statement(text: str) -> bool:
    return text.lstrip().startswith(("select", "insert", "update", "delete", "with", "replace"))


def _docstrings(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
