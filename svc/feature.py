"""What a feature may contribute. ``app.py`` holds the list of all of them; nothing registers itself.

A feature is one folder under ``svc/`` whose package face exports ``FEATURE``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from sqlite_utils.migrations import Migrations

from svc.config import AnySetting, Rule
from svc.nursery import Subsystem
from svc.protocol.rows import Procedure, Route, SocketRoute
from svc.store import Invariant, Tx
from svc.workspace import Call, Workspace


@dataclass(frozen=True, kw_only=True)
class Feature:
    """One feature's rows.

    ``claim`` is called in the transaction in which the first admin (by user id) claims the instance. ``build`` makes
    its services, without touching disk or network; ``boot`` runs once after the migrations and before the first
    subsystem (seeding); ``subsystems`` are started then, in the order of the features.
    """

    name: str
    summary: str
    settings: tuple[AnySetting, ...] = ()
    rules: tuple[Rule, ...] = ()
    migrations: Migrations | None = None
    routes: tuple[Route[Call], ...] = ()
    sockets: tuple[SocketRoute[Call], ...] = ()
    procedures: tuple[Procedure[Call], ...] = ()
    topics: tuple[str, ...] = ()
    invariants: tuple[Invariant, ...] = ()
    claim: Callable[[Tx, str], None] | None = None
    build: Callable[[Workspace], None] | None = None
    boot: Callable[[Workspace], Awaitable[None]] | None = None
    subsystems: Callable[[Workspace], Awaitable[Sequence[Subsystem]]] | None = None
