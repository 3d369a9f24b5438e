"""Writes ``docs/limits.md``: each limit, its value, and what happens beyond it, from the constants that the code uses.

A limit is a number of a module, or a field of a record of limits. Its note below it ends in what happens beyond it:

    BATCH_MAX_CALLS: Final = 50
    \"\"\"Calls of one batch. Beyond: 400 `BAD_REQUEST`; none of them runs.\"\"\"

The note is read from the source and the number from the module, so there is no second list of either. Owns the
order of the page and the format of a number.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final, cast

from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS
from svc.config import Setting

SVC: Final = Path(__file__).parent
AREAS: Final = {
    "RPC": ("protocol/trpc", "protocol/streaming"),
    "Sockets": ("protocol/websocket", "protocol/websocket_client", "surface/live"),
    "HTTP": ("protocol", "doors", "surface", "identity/routes", "gitops/webhook"),
    "Signing in, devices and notifications": ("identity", "notifications"),
    "Pages": ("pages",),
    "Terminals": ("terminals",),
    "Files": ("files", "store/checked"),
    "Meetings": ("meetings",),
    "Replica and export": ("backup", "replica", "okf", "export"),
    "Models, rules and agents": (
        "models",
        "broker/embedding",
        "meaning",
        "worker/models",
        "worker/mcp",
        "configuring",
        "rules",
        "runs/procedures",
        "triage",
        "agents",
        "worker/agents",
        "tools",
        "mcp",
    ),
    "Mail that comes": ("formats/mime", "mail/reading", "mail/images"),
    "Mail that is written": ("formats/writing", "mail/sending", "mail/snippets"),
    "The mailbox": ("mail",),
    "The escrow service": ("control_plane",),
}
"""The modules of each table; the first match counts. The limits of any other folder get a table of their own."""
ORDER: Final = (
    "HTTP",
    "RPC",
    "Sockets",
    "Signing in, devices and notifications",
    "Terminals",
    "Files",
    "Pages",
    "Meetings",
    "Models, rules and agents",
    "Replica and export",
    "The mailbox",
    "Mail that comes",
    "Mail that is written",
    "The escrow service",
)
_NOTE: Final = re.compile(r"(.+?)\.? Beyond: (.+)\.", re.DOTALL)
_TIMES: Final = (("days", DAY_MS), ("hours", HOUR_MS), ("minutes", MINUTE_MS))
_UNITS: Final = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


@dataclass(frozen=True, kw_only=True)
class Limit:
    """``module`` is a path below ``svc/`` without its ending; ``name`` is a constant, or ``Record.field``."""

    module: str
    name: str
    value: object
    bounds: str
    beyond: str


def limits() -> Iterator[Limit]:
    """All limits, in the order of the source."""
    for path in sorted(SVC.rglob("*.py")):
        source = path.read_text()
        if "Beyond: " in source and path != Path(__file__):
            yield from _limits_of(path.relative_to(SVC).with_suffix("").as_posix(), ast.parse(source))


def rows(bounds: Iterable[Limit]) -> dict[str, list[tuple[str, ...]]]:
    """The tables of the page, by title: first those of :data:`ORDER`, then one for each other folder."""
    found: dict[str, list[tuple[str, ...]]] = {title: [] for title in ORDER}
    for one in bounds:
        row = (one.bounds, written(one), one.beyond, f"`{one.module}`: `{one.name}`")
        found.setdefault(_area(one.module), []).append(row)
    return found


def written(limit: Limit) -> str:
    """The number with its unit, which is the last word of the name."""
    if isinstance(limit.value, Setting):
        return f"{_number(limit.name, limit.value.default)} by default (`{limit.value.name}`)"
    return _number(limit.name, limit.value)


def _limits_of(module: str, tree: ast.Module) -> Iterator[Limit]:
    loaded = import_module(f"svc.{module.replace('/', '.')}")
    for name, bounds, beyond in _noted(tree.body):
        yield Limit(module=module, name=name, value=getattr(loaded, name), bounds=bounds, beyond=beyond)
    for record in (one for one in tree.body if isinstance(one, ast.ClassDef)):
        for name, bounds, beyond in _noted(record.body):
            value = getattr(getattr(loaded, record.name), name)
            yield Limit(module=module, name=f"{record.name}.{name}", value=value, bounds=bounds, beyond=beyond)


def _noted(body: Iterable[ast.stmt]) -> Iterator[tuple[str, str, str]]:
    """Each name whose note (the text right below it) has a "Beyond" part."""
    before: ast.stmt | None = None
    for statement in body:
        if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name):
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))) if note := _NOTE.fullmatch(" ".join(text.split())):
                    yield before.target.id, note[1], note[2]
        before = statement


def _area(module: str) -> str:
    for title, places in AREAS.items():
        if any(module == place or module.startswith(f"{place}/") for place in places):
            return title
    return module.partition("/")[0].replace("_", " ").capitalize()


def _number(name: str, value: object) -> str:
    number, words = cast(float, value), set(name.rpartition(".")[2].lower().split("_"))
    if "bytes" in words:
        return _bytes(number) + (" a second" if "s" in words else "")
    if "ms" in words:
        return next(f"{number / size:,g} {unit}" for unit, size in _TIMES if number >= 2 * size or size == MINUTE_MS)
    if "s" in words:
        return f"{number:g} s"
    return f"{number:,} characters" if "chars" in words else f"{number:,}"


def _bytes(number: float) -> str:
    for unit, size in _UNITS:
        if number >= size and number % size == 0:
            return f"{number / size:g} {unit}"
    return f"{number:,} bytes"
