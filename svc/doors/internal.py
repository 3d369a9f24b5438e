"""Listeners that only this machine reaches, and only with the internal token: the two planes talk over them.

One serves the trusted plane (``SVC_INTERNAL_PORT``), one the worker's control (``SVC_WORKER_URL``). Any ``Host`` but
loopback gets 421, any ``Origin`` 403, any other token 401. The routes are rows like all others, but belong to this
listener: the public port has none of them, and this one has none of the public routes.

Owns the port and the token's digest. The token itself is in the environment, or in a file of the home that each boot
writes anew.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import trio

from svc.clock import Clock
from svc.doors.door import Door, serve_port
from svc.log import Log
from svc.nursery import Child
from svc.principal import Principal, system
from svc.protocol import Application, LoopbackGuard, Request, Route, Router

C = TypeVar("C")

LOOPBACK: Final = "127.0.0.1"
MAX_CONNECTIONS: Final = 1_000
"""Connections to the internal port. Beyond: 503 `unavailable` with `Retry-After`."""
_SCHEME: Final = "bearer "


@dataclass(kw_only=True)
class Internal(Generic[C]):
    """``name`` is used in the log. The boot code opens ``listeners``, so that a port in use is reported early."""

    name: str
    rows: Sequence[Route[C]]
    context: Callable[[Request, Principal | None], C]
    log: Log
    clock: Clock
    port: int = 0
    listeners: list[trio.SocketListener] = field(default_factory=list)
    _digest: bytes = b""

    def trust(self, token: str) -> None:
        """Accept only requests with this token. Before this call, no request is accepted."""
        self._digest = _digest(token)

    def take(self, listeners: Sequence[trio.SocketListener]) -> None:
        self.listeners = list(listeners)
        self.port = self.listeners[0].socket.getsockname()[1]

    async def run(self, child: Child) -> None:
        listeners = self.listeners or await trio.open_tcp_listeners(self.port, host=LOOPBACK)  # again, after a crash
        self.listeners = []  # serve_port closes them
        child.started()
        child.log.info(f"{self.name}.listening", port=self.port)
        door = Door(application=self.build_application(), slots=trio.Semaphore(MAX_CONNECTIONS))
        await serve_port(child, listeners, [door])

    def build_application(self) -> Application[C]:
        return Application(
            router=Router(self.rows, ()),
            guard=LoopbackGuard(port=self.port),
            resolve=self._resolve,
            context=self.context,
            log=self.log,
            clock=self.clock,
            logged_as=f"{self.name}.request",
        )

    async def _resolve(self, request: Request) -> Principal | None:
        said = request.headers.all("authorization")
        if len(said) != 1 or not said[0].lower().startswith(_SCHEME):
            return None
        digest = _digest(said[0][len(_SCHEME) :].strip())
        return system(self.name) if hmac.compare_digest(digest, self._digest) else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
