"""The running whole as a feature sees it: the shared parts, and the services other features offer.

Owns nothing but the references; ``app.py`` builds it once a boot and hands it to every feature. There is no global one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

from svc.clock import Clock
from svc.config import Config
from svc.errors import Unauthenticated
from svc.log import Log
from svc.nursery import ProcessGate, Root, ThreadGate
from svc.principal import Principal
from svc.protocol.egress import Egress
from svc.store import Blobs, Home, Secrets, Store

if TYPE_CHECKING:
    from svc.feature import Feature

T = TypeVar("T")


@dataclass(kw_only=True)
class Workspace:
    """Everything one boot has, by name; and by type, what features provided to those that stand after them."""

    config: Config
    clock: Clock
    rng: random.Random
    log: Log
    home: Home
    store: Store
    blobs: Blobs
    secrets: Secrets
    egress: Egress
    threads: ThreadGate
    processes: ProcessGate
    root: Root
    features: tuple[Feature, ...]
    port: int = 0  # the one really bound, known before the first request
    _services: dict[type, object] = field(default_factory=dict)

    def provide(self, service: object) -> None:
        """Offer ``service`` under its own type. Twice the same type is a bug."""
        kind = type(service)
        if kind in self._services:
            raise RuntimeError(f"{kind.__name__} is provided twice")
        self._services[kind] = service

    def service(self, kind: type[T]) -> T:
        return cast(T, self._services[kind])


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a route or procedure: who asks, where the house is, and under which request id it is logged."""

    workspace: Workspace
    visitor: Principal | None
    request_id: str

    @property
    def principal(self) -> Principal:
        """Who asks. Behind ``authenticated`` and ``admin`` access there always is somebody."""
        if self.visitor is None:
            raise Unauthenticated
        return self.visitor
