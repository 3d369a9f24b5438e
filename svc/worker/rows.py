"""A feature's half of the worker plane: a module of this package with ``ROWS``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from svc.config import AnySetting
from svc.nursery import Subsystem
from svc.protocol import Route
from svc.workflow import Workflow
from svc.workspace import ScrubbedContext, ScrubbedWorkspace


@dataclass(frozen=True, kw_only=True)
class WorkerRows:
    """A feature's rows in the plane that has no database, no blob, no key and no secret.

    All other rows of a feature belong to the trusted plane. The code of ``workflows`` runs here. ``settings`` are the
    feature's settings that this half reads, none of them secret. ``routes`` answer on the worker's control port.
    """

    workflows: tuple[Workflow, ...] = ()
    settings: tuple[AnySetting, ...] = ()
    routes: tuple[Route[ScrubbedContext], ...] = ()
    build: Callable[[ScrubbedWorkspace], None] | None = None
    subsystems: Callable[[ScrubbedWorkspace], Awaitable[Sequence[Subsystem]]] | None = None


NO_ROWS: Final = WorkerRows()
