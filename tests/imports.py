"""What the modules of a tree of sources import, by the text alone: nothing is loaded.

``from package import name`` counts as an import of the module ``package.name`` where there is such a module and the
package itself gives that name to nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

LOADERS: Final = frozenset({"import_module", "__import__", "spec_from_file_location", "run_module", "run_path", "exec"})
"""Names whose use may load a module that no import statement names."""


@dataclass(frozen=True, kw_only=True)
class Import:
    """``module`` is absolute. ``at_run_time``: it does not stand in the body of ``if TYPE_CHECKING``."""

    module: str
    line: int
    at_run_time: bool


@cache
def imports_in(path: Path, root: Path) -> tuple[Import, ...]:
    """Every import of a file below ``root``, in functions, too."""
    return tuple(_imports(path, root))


def _imports(path: Path, root: Path) -> Iterator[Import]:
    for node, at_run_time in _statements(tree_of(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = absolute(node, path, root)
            names = [_imported(package, alias.name, path, root) for alias in node.names]
        else:
            continue
        for name in dict.fromkeys(names):
            yield Import(module=name, line=node.lineno, at_run_time=at_run_time)


def loads_by_name(path: Path) -> bool:
    """Whether a file may load a module whose name is known only when it runs."""
    text = path.read_text()
    return any(name in text for name in LOADERS) and any(_name_of(node) in LOADERS for node in ast.walk(tree_of(path)))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def statements_of(node: ast.AST) -> Iterator[ast.stmt | ast.AST]:
    """All statements below, without the expressions, which are most of a tree."""
    return (below for below, _ in _statements(node))


def module_of(path: Path, root: Path) -> str:
    """The dotted name of a file below ``root``; a package has that of its folder."""
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _statements(node: ast.AST, *, at_run_time: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """Each statement below, and whether it runs. Only a plain ``if TYPE_CHECKING`` is taken for what never runs."""
    only_types, only_running = (False, False)
    if isinstance(node, ast.If):
        negated = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
        test = node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test
        if _name_of(test) == "TYPE_CHECKING":
            only_types, only_running = not negated, negated
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        runs = at_run_time and not (only_types and field == "body") and not (only_running and field == "orelse")
        below = getattr(node, field, ())
        for one in below if isinstance(below, list) else ():
            yield one, runs
            yield from _statements(one, at_run_time=runs)


def _name_of(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
            return name
    return ""


def absolute(node: ast.ImportFrom, path: Path, root: Path) -> str:
    """The package or module that stands after ``from``; dots are resolved from the file's own place."""
    if not node.level:
        return node.module or ""
    folders = path.relative_to(root).parts[:-1]
    return ".".join([*folders[: len(folders) - node.level + 1], *([node.module] if node.module else [])])


def _imported(package: str, name: str, path: Path, root: Path) -> str:
    """The module ``package.name`` if there is one, else ``package``. A package's own files mean the module."""
    folder = root.joinpath(*package.split("."))
    if not ((folder / f"{name}.py").is_file() or (folder / name / "__init__.py").is_file()):
        return package
    if not path.is_relative_to(folder) and name in _bound_in(folder / "__init__.py"):
        return package
    return f"{package}.{name}"


@cache
def _bound_in(face: Path) -> frozenset[str]:
    """The names that a package gives in its own ``__init__.py``."""
    if not face.is_file():
        return frozenset()
    found: set[str] = set()
    for node in tree_of(face).body:
        match node:
            case ast.ImportFrom(names=names) | ast.Import(names=names):
                found |= {alias.asname or alias.name for alias in names}
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
    return frozenset(found)
