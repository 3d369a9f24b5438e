"""What a feature may contribute. ``app.py`` lists all features; nothing registers itself.

A feature is one folder under ``svc/`` whose package exports ``FEATURE``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from sqlite_utils.migrations import Migrations

from svc.capability import Capability
from svc.check import Check
from svc.command import Command
from svc.config import AnySetting, Rule
from svc.erase import Erase
from svc.file_reader import FileReader
from svc.job import Job
from svc.machine import AnyMachine
from svc.metric import Metric
from svc.nursery import Subsystem
from svc.protocol.rows import Listener, Procedure, Route, SocketRoute
from svc.reversal import Reversal
from svc.store import Consumer, Invariant, Tx
from svc.worker.rows import NO_ROWS, WorkerRows
from svc.workflow import Call, Workflow
from svc.workspace import RequestContext, Workspace


@dataclass(frozen=True, kw_only=True)
class Seed:
    """What a feature writes for one value of ``SVC_SEED``. It runs at every boot, so it must be safe to repeat."""

    world: str
    plant: Callable[[Workspace], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Feature:
    """The rows of one feature.

    ``tables`` are the tables that only this feature writes; later features may read them. ``capabilities`` are the
    credentials that it works with and an admin sets. ``uses`` names the capabilities that it may acquire, or prefixes
    that end in ``*``. ``replaces_outside``: it stands in for every outside service. ``worker`` is its half in the
    worker plane, with its workflows; ``calls`` are what workflows may ask of this half.

    ``erases`` delete the data of an account, in the order of the tables. They are called in reverse, from the last of
    the last feature, because a later table may refer to an earlier one.

    ``claim`` is called in the transaction in which the first admin (by user id) claims the instance. At boot, in the
    order of the features: ``build`` makes its services, without touching disk or network; ``boot`` runs once after the
    migrations; the ``seeds`` of the chosen world are written; ``subsystems`` are started.
    """

    name: str
    summary: str
    settings: tuple[AnySetting, ...] = ()
    rules: tuple[Rule, ...] = ()
    migrations: Migrations | None = None
    tables: tuple[str, ...] = ()
    erases: tuple[Erase, ...] = ()
    routes: tuple[Route[RequestContext], ...] = ()
    sockets: tuple[SocketRoute[RequestContext], ...] = ()
    procedures: tuple[Procedure[RequestContext], ...] = ()
    topics: tuple[str, ...] = ()
    invariants: tuple[Invariant, ...] = ()
    checks: tuple[Check, ...] = ()
    metrics: tuple[Metric, ...] = ()
    machines: tuple[AnyMachine, ...] = ()
    reversals: tuple[Reversal, ...] = ()
    file_readers: tuple[FileReader, ...] = ()
    consumers: tuple[Consumer[Workspace], ...] = ()
    commands: tuple[Command, ...] = ()
    jobs: tuple[Job[Workspace], ...] = ()
    calls: tuple[Call, ...] = ()
    seeds: tuple[Seed, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    uses: tuple[str, ...] = ()
    claim: Callable[[Tx, str], None] | None = None
    build: Callable[[Workspace], None] | None = None
    boot: Callable[[Workspace], Awaitable[None]] | None = None
    subsystems: Callable[[Workspace], Awaitable[Sequence[Subsystem]]] | None = None
    worker: WorkerRows = NO_ROWS
    replaces_outside: bool = False


def file_readers_of(features: Iterable[Feature]) -> tuple[FileReader, ...]:
    """The file readers of all features."""
    return tuple(row for feature in features for row in feature.file_readers)


def routes_of(features: Iterable[Feature], listener: Listener) -> tuple[Route[RequestContext], ...]:
    """The routes of the trusted plane for one listener."""
    return tuple(row for feature in features for row in feature.routes if row.listener == listener)


def workflows_of(features: Iterable[Feature]) -> dict[str, Workflow]:
    """The workflows of all features, by name."""
    return {row.name: row for feature in features for row in feature.worker.workflows}


def erases_of(features: Sequence[Feature]) -> tuple[Erase, ...]:
    """The erase functions of all features, in the order in which they are called."""
    return tuple(erase for feature in reversed(features) for erase in reversed(feature.erases))
