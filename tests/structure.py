"""Which part of the service may import which: the tables of the rules, and a function for each rule.

Each function takes a tree of sources and returns its faults, one line each. ``test_architecture.py`` asks them about
this repository and about small trees that break a rule; ``web/test_new_feature.py`` about a tree with one feature more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

from tests.imports import Import, imports_in, loads_by_name, module_of, tree_of

BASE: Final = frozenset(
    {
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
        "worker_limits",
    }
)
ROOMS: Final = frozenset({"nursery", "protocol", "store"})
"""They do not import each other."""
PURE: Final = frozenset({"formats"})
"""What worker processes run: it imports the base and nothing else, and every feature may use it."""

LAYERS: Final = (
    frozenset({"workspace", "workflow", "settings", "listening", "switches"}),
    frozenset({"doors"}),
    frozenset({"worker"}),
    frozenset({"feature", "reversal", "job", "command", "capability", "check", "erase", "file_reader", "metric"}),
)
"""Above the rooms and below the features. Each layer imports those before it, and itself."""
ABOVE_ROOMS: Final = frozenset().union(*LAYERS)
NAMED_AS_TYPES: Final = {
    ("workspace", "feature"): "the workspace holds the features' rows, which name the workspace in turn",
}
"""Imports against the order, allowed under ``if TYPE_CHECKING`` only: who imports what, and why."""

OF_THE_WORKER: Final = ROOMS - {"store"} | LAYERS[0] | LAYERS[1]
"""What a worker process may load: nothing from which the store or a feature could be reached."""
OF_THE_CONTROL_PLANE: Final = frozenset({"nursery", "protocol", "doors", "settings", "listening"})
"""What the escrow service may load: no feature, and nothing that opens a home."""
APART: Final = frozenset({"control_plane"})
"""A program of its own; nobody imports it."""
FIXTURES: Final = frozenset({"demo"})
"""Data of the fakes; no feature."""
TOP: Final = frozenset(
    {
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
)
"""They may import all of the service, and nobody imports them but they themselves."""

INSIDE_MAIL: Final = (
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
"""Each folder or module of mail imports only those before it. A test compares with it what readers are shown."""

SEAMS: Final = frozenset({"svc.mail.providers.seam"})
"""Faces for those who stand behind them: a provider is written against its seam."""

GROUND: Final[Mapping[str, tuple[str, ...]]] = {
    "fakes.mail": ("fakes.authority",),
    "formats.html": ("formats.fixed", "formats.text"),
    "formats.invitations": ("formats.person", "formats.text"),
    "formats.mime": ("formats.readable", "formats.snippet", "formats.text"),
    "formats.writing": ("formats.person", "formats.text"),
    "mail.providers.gmail": (
        "mail.providers.draft_mark",
        "mail.providers.draft_rows",
        "mail.providers.kind",
        "mail.providers.seam",
        "mail.providers.tokens",
    ),
    "mail.providers.imap": (
        "mail.providers.draft_mark",
        "mail.providers.folders",
        "mail.providers.kind",
        "mail.providers.seam",
    ),
    "mail.providers.imap.discovery": (
        "mail.providers.imap.dialling",
        "mail.providers.imap.faults",
        "mail.providers.imap.opening",
        "mail.providers.imap.servers",
    ),
    "mail.providers.imap.protocol": ("mail.providers.draft_mark",),
    "mail.providers.imap.rows": (
        "mail.providers.folders",
        "mail.providers.imap.labels",
        "mail.providers.imap.roles",
        "mail.providers.seam",
    ),
    "mail.providers.imap.submission": (
        "mail.providers.imap.dialling",
        "mail.providers.imap.faults",
        "mail.providers.imap.login",
        "mail.providers.imap.servers",
    ),
    "mail.providers.outlook": ("mail.providers.kind", "mail.providers.tokens"),
    "mail.threads.own_words": ("mail.threads.queries",),
    "mcp.signing": ("mcp.declared", "mcp.pinned", "mcp.servers"),
    "meetings.recognisers": ("meetings.model", "meetings.queries", "meetings.settings"),
    "tools.rows": ("tools.cards", "tools.model", "tools.taint"),
    "worker.mcp": ("worker.rows",),
}
"""A package within a folder, and what it imports of the folders around it: its ground. It imports nothing else of them,
and no module of its ground imports it back, also not by way of others. So all modules of a folder can be read in one
order: first the ground, then the package within, then the rest."""

LOAD_BY_NAME: Final = {
    "svc/generate_limits.py": "it reads the value of each limit from the module that has it",
}
"""Files that may load a module whose name is known only when they run, each with its reason."""


@dataclass(frozen=True)
class Tree:
    """The sources below ``root / "svc"``."""

    root: Path

    @cached_property
    def sources(self) -> tuple[Path, ...]:
        return tuple(sorted((self.root / "svc").rglob("*.py")))

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The folders of the features, as ``FEATURES`` of ``app.py`` lists them."""
        app = self.root / "svc" / "app.py"
        modules = {module.rpartition(".")[2]: module for module in (one.module for one in imports_in(app, self.root))}
        modules |= _called_otherwise(app)
        return tuple(modules[name].split(".")[1] for name in _listed(tree_of(app)))

    @cached_property
    def packages(self) -> frozenset[str]:
        return frozenset(module_of(path, self.root) for path in self.sources if path.name == "__init__.py")

    def imports(self, path: Path) -> tuple[Import, ...]:
        return imports_in(path, self.root)

    def room(self, path: Path) -> str:
        return path.relative_to(self.root / "svc").parts[0].removesuffix(".py")

    def place(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()


def against_the_order(tree: Tree, path: Path) -> Iterator[str]:
    """A module imports only what stands below it, also where it only names types."""
    room = tree.room(path)
    if room in TOP or room == "__init__":
        return
    allowed = BASE | {room} | _below(tree, room)
    for one in tree.imports(path):
        wanted = one.module.split(".")[1] if one.module.startswith("svc.") else room
        named_as_type = not one.at_run_time and (room, wanted) in NAMED_AS_TYPES
        if wanted not in allowed and not named_as_type:
            yield f"line {one.line}: svc.{room} stands below {one.module}"


def past_a_face(tree: Tree, path: Path) -> Iterator[str]:
    """A feature is imported by its package's face only, or by one of the :data:`SEAMS`."""
    room = tree.room(path)
    for one in tree.imports(path):
        parts = one.module.split(".")
        if room in TOP and parts[-1] == "feature":
            continue  # a package whose modules run in worker processes keeps its face light
        if one.module in SEAMS or parts[0] != "svc" or len(parts) < 3:
            continue
        if parts[1] in tree.order and parts[1] != room:
            yield f"line {one.line}: reaches into {one.module}"


def against_mails_order(tree: Tree, path: Path) -> Iterator[str]:
    """Inside mail, a folder imports only those before it."""
    place = path.relative_to(tree.root / "svc" / "mail").parts[0].removesuffix(".py")
    if place == "__init__":
        return
    for one in tree.imports(path):
        parts = one.module.split(".")
        if parts[:2] == ["svc", "mail"] and len(parts) > 2:
            if not {place, parts[2]} <= set(INSIDE_MAIL):
                yield f"line {one.line}: {place} or {parts[2]} has no place in INSIDE_MAIL"
            elif INSIDE_MAIL.index(parts[2]) > INSIDE_MAIL.index(place):
                yield f"line {one.line}: {place} stands before {one.module}"


def off_its_ground(tree: Tree, path: Path, ground: Mapping[str, tuple[str, ...]] = GROUND) -> Iterator[str]:
    """A package within a folder imports of the folders around it only its :data:`GROUND`."""
    package = module_of(path.parent / "__init__.py", tree.root)
    around = _around(package)
    allowed = {f"svc.{name}" for name in ground.get(package.removeprefix("svc."), ())}
    for one in tree.imports(path):
        home = one.module if one.module in tree.packages else one.module.rpartition(".")[0]
        if home in around and one.module not in allowed:
            yield f"line {one.line}: {one.module} is not in the ground of {package}"


def ground_that_comes_back(tree: Tree, ground: Mapping[str, tuple[str, ...]] = GROUND) -> Iterator[str]:
    """No module of a package's ground imports the package, also not by way of others."""
    graph = {
        module_of(path, tree.root): {one.module for one in tree.imports(path) if one.module.startswith("svc.")}
        for path in tree.sources
    }
    for package, names in ground.items():
        if f"svc.{package}" not in tree.packages:
            yield f"there is no svc.{package}"
        for name in names:
            back = [one for one in _reached(graph, f"svc.{name}") if f"{one}.".startswith(f"svc.{package}.")]
            if back:
                yield f"svc.{name} is ground of svc.{package} and imports {min(back)}"


def circles_of_packages(tree: Tree) -> Iterator[str]:
    """The packages within one folder do not import each other in a circle."""
    for folder in sorted(tree.packages - {"svc", "svc.mail"}):  # these two have an order of their own
        within = [one for one in tree.packages if one.rpartition(".")[0] == folder]
        edges = {one: set[str]() for one in within}
        for path in tree.sources:
            own = _one_of(within, module_of(path, tree.root))
            others = {_one_of(within, one.module) for one in tree.imports(path)}
            if own:
                edges[own] |= {other for other in others if other and other != own}
        try:
            TopologicalSorter(edges).prepare()
        except CycleError as circle:
            yield " <- ".join(circle.args[1])


def loads_what_no_import_names(tree: Tree, path: Path) -> Iterator[str]:
    """Whoever loads a module by a name made at run time stands in :data:`LOAD_BY_NAME`."""
    if loads_by_name(path) and tree.place(path) not in LOAD_BY_NAME:
        yield "it loads a module whose name no import tells"


def folders_without_a_row(tree: Tree) -> set[str]:
    """Every folder is a feature of the list, or has its place in one of the tables above."""
    folders = {name.split(".")[1] for name in tree.packages if name.count(".") == 1}
    return (folders - ROOMS - PURE - FIXTURES - ABOVE_ROOMS - APART) ^ set(tree.order)


def faults_of(tree: Tree) -> dict[str, list[str]]:
    """All faults, by file or by rule; of what ``test_architecture.py`` asks with a test for each rule."""
    found: dict[str, list[str]] = {}
    for path in tree.sources:
        rules = [against_the_order, past_a_face, off_its_ground, loads_what_no_import_names]
        if tree.room(path) == "mail":
            rules.append(against_mails_order)
        found[tree.place(path)] = [fault for rule in rules for fault in rule(tree, path)]
    found["packages"] = [
        *ground_that_comes_back(tree),
        *circles_of_packages(tree),
        *sorted(folders_without_a_row(tree)),
    ]
    return {place: faults for place, faults in found.items() if faults}


def _below(tree: Tree, room: str) -> frozenset[str]:
    """What a room may import beside the base."""
    if room in {"worker", "doors"}:
        return OF_THE_WORKER
    if room in APART:
        return OF_THE_CONTROL_PLANE
    for number, layer in enumerate(LAYERS):
        if room in layer:
            return ROOMS | frozenset().union(*LAYERS[: number + 1])
    if room in FIXTURES:
        return PURE | frozenset(tree.order)
    if room in tree.order:
        return ROOMS | PURE | FIXTURES | ABOVE_ROOMS | frozenset(tree.order[: tree.order.index(room)])
    return frozenset()


def _around(package: str) -> set[str]:
    """The packages around one, up to its feature or its folder of mail."""
    parts = package.split(".")
    return {".".join(parts[:length]) for length in range(2, len(parts))} - {"svc.mail"}


def _reached(graph: Mapping[str, Iterable[str]], start: str) -> set[str]:
    """Every module of the same feature that is imported from one, also by way of others."""
    feature = ".".join(start.split(".")[:2])
    seen, waiting = set[str](), [start]
    while waiting:
        for one in graph.get(waiting.pop(), ()):
            if one not in seen and one.startswith(f"{feature}."):
                seen.add(one)
                waiting.append(one)
    return seen


def _one_of(packages: Iterable[str], module: str) -> str | None:
    return next((one for one in packages if f"{module}.".startswith(f"{one}.")), None)


def _called_otherwise(path: Path) -> dict[str, str]:
    """Names that an import gives anew, each with what it names."""
    return {
        alias.asname: f"{node.module}.{alias.name}"
        for node in tree_of(path).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }


def _listed(tree: ast.Module) -> Iterator[str]:
    """The name at the beginning of each row of ``FEATURES``."""
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "FEATURES":
            for row in node.value.elts if isinstance(node.value, ast.Tuple) else ():
                yield ast.unparse(row).removesuffix(".FEATURE")
