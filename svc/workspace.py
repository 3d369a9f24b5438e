"""The running service as a feature sees it: the shared parts, and the services that other features offer.

There are two: :class:`Workspace` of the trusted plane, and :class:`ScrubbedWorkspace` of the worker plane, from which
no database, blob, key or secret setting can be reached. Owns only the references; ``app.py`` builds them once per boot
and passes them to every feature. There is no global one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

from svc.clock import Clock
from svc.config import Config
from svc.errors import Unauthenticated
from svc.log import Log
from svc.nursery import ProcessPool, Root, ThreadPool
from svc.principal import Principal

if TYPE_CHECKING:
    from svc.feature import Feature
    from svc.protocol.egress import Egress
    from svc.store import Blobs, Home, Store

T = TypeVar("T")


@dataclass(kw_only=True)
class Services:
    """The services that features provide to later features, by type."""

    _services: dict[type, object] = field(default_factory=dict)

    def provide(self, service: object) -> None:
        """Offer ``service`` under its own type. To provide the same type twice is a bug."""
        kind = type(service)
        if kind in self._services:
            raise RuntimeError(f"{kind.__name__} is provided twice")
        self._services[kind] = service

    def service(self, kind: type[T]) -> T:
        return cast(T, self._services[kind])


@dataclass(kw_only=True)
class Workspace(Services):
    """Everything of one boot, by name."""

    config: Config
    clock: Clock
    rng: random.Random
    log: Log
    home: Home
    store: Store
    blobs: Blobs
    egress: Egress
    threads: ThreadPool
    processes: ProcessPool
    root: Root
    features: tuple[Feature, ...]
    port: int = 0  # the port really bound, known before the first request


@dataclass(kw_only=True)
class ScrubbedWorkspace(Services):
    """The workspace of the worker plane. ``config`` has no secret; ``root`` is the worker's own."""

    config: Config
    clock: Clock
    rng: random.Random
    log: Log
    root: Root


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """One call of a route or procedure: the principal, the workspace, and the request id for the log."""

    workspace: Workspace
    principal_or_none: Principal | None
    request_id: str

    @property
    def principal(self) -> Principal:
        """The principal. Behind ``authenticated`` and ``admin`` access there always is one."""
        if self.principal_or_none is None:
            raise Unauthenticated
        return self.principal_or_none


@dataclass(frozen=True, slots=True, kw_only=True)
class ScrubbedContext:
    """One call of a route in the worker plane. The caller has shown the internal token; there is no principal."""

    workspace: ScrubbedWorkspace
    request_id: str
