"""The HTTP subsystem: accepts connections and hands each to the protocol, within a bound, until it drains.

Intake is the listener, work is the connections: on drain the port closes at once, idle connections with it, and
requests in flight have the drain's time to finish.
"""

from __future__ import annotations

import resource
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import trio

from svc.config import Config
from svc.identity import CORS_ORIGINS, TRUST_PROXY, Identity
from svc.log import Log
from svc.nursery import Child, Subsystem
from svc.principal import Principal
from svc.protocol import (
    DEFAULT_LIMITS,
    Application,
    Drain,
    Guard,
    Limits,
    Request,
    Router,
    RpcLayer,
    StaticTree,
    serve_connection,
)
from svc.settings import DRAIN_S, HOST, PORT, PUBLIC_ORIGIN, canonical_origin, is_fake
from svc.surface.assets import static_directory
from svc.surface.overload import LIMITS, RESERVED_CONNECTIONS, Overloaded, turn_away
from svc.workspace import Call, Workspace

RESERVED_DESCRIPTORS: Final = 128  # for the database, blobs, outgoing connections and the probes
MAX_CONNECTIONS: Final = 10_000


@dataclass(kw_only=True)
class Surface:
    """The service behind the port. ``listeners`` are opened by whoever boots, so that a port in use is told first."""

    workspace: Workspace
    static: StaticTree
    rpc: RpcLayer[Call]
    listeners: list[trio.SocketListener] = field(default_factory=list)
    port: int = 0
    max_connections: int = field(default_factory=lambda: max_connections())
    _application: Application[Call] | None = None

    @property
    def origin(self) -> str:
        """Where a browser finds this instance."""
        return canonical_origin(self.workspace.config, port=self.port)

    def take(self, listeners: Sequence[trio.SocketListener]) -> None:
        """Adopt the open listeners; from now on the port is known."""
        self.listeners = list(listeners)
        self.port = self.workspace.port = self.listeners[0].socket.getsockname()[1]

    async def run(self, child: Child) -> None:
        listeners = self.listeners or await self._listen_again()
        self.listeners = []  # closed by whoever served them
        drain = Drain()
        child.work.start_soon(_pass_on_drain, child, drain)
        overloaded = self.build_application(Overloaded)
        doors = [
            _Door(application=self.build_application(), slots=trio.Semaphore(self.max_connections)),
            _Door(application=overloaded, slots=trio.Semaphore(RESERVED_CONNECTIONS), limits=LIMITS),
        ]
        handler = partial(_serve, doors=doors, log=child.log, drain=drain)
        child.started()
        child.log.info("http.listening", origin=self.origin, port=self.port)
        await trio.serve_listeners(handler, listeners, handler_nursery=child.work)

    async def _listen_again(self) -> list[trio.SocketListener]:
        """After a crash: the same port."""
        config = self.workspace.config
        return await trio.open_tcp_listeners(self.port or config[PORT], host=config[HOST])

    def build_application(self, kind: type[Application[Call]] = Application) -> Application[Call]:
        """Guard, routes and RPC joined, for whatever front carries the requests."""
        workspace = self.workspace
        return kind(
            router=Router(
                [row for feature in workspace.features for row in feature.routes],
                [row for feature in workspace.features for row in feature.sockets],
            ),
            guard=_guard(workspace.config, self.port),
            resolve=workspace.service(Identity).resolve,
            context=partial(_call, workspace),
            log=workspace.log,
            clock=workspace.clock,
        )


def build(workspace: Workspace) -> None:
    procedures = [row for feature in workspace.features for row in feature.procedures]
    workspace.provide(
        Surface(
            workspace=workspace,
            static=StaticTree.load(static_directory()),
            rpc=RpcLayer(procedures, log=workspace.log, fake=is_fake(workspace.config)),
        )
    )


async def subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    surface = workspace.service(Surface)
    return [Subsystem(name="http", run=surface.run, drain_s=float(workspace.config[DRAIN_S]))]


@dataclass(frozen=True, kw_only=True)
class _Door:
    """What serves so many connections at a time."""

    application: Application[Call]
    slots: trio.Semaphore
    limits: Limits = DEFAULT_LIMITS


async def _serve(stream: trio.SocketStream, *, doors: Sequence[_Door], log: Log, drain: Drain) -> None:
    """One connection, by the first door that has room. Beyond the last it is turned away before it can hold
    anything."""
    door = next((one for one in doors if _enters(one)), None)
    if door is not doors[0]:
        log.warning("http.too_many_connections", turned_away=door is None)
    if door is None:
        await turn_away(stream)
        return
    try:
        peer = stream.socket.getpeername()[0]
    except OSError:
        peer = ""  # gone before it was served
    try:
        await serve_connection(stream, door.application, log=log, peer=peer, drain=drain, limits=door.limits)
    finally:
        door.slots.release()


def _enters(door: _Door) -> bool:
    try:
        door.slots.acquire_nowait()
    except trio.WouldBlock:
        return False
    return True


async def _pass_on_drain(child: Child, drain: Drain) -> None:
    await child.wait_draining()
    drain.begin()


def _call(workspace: Workspace, request: Request, principal: Principal | None) -> Call:
    return Call(workspace=workspace, visitor=principal, request_id=request.id)


def _guard(config: Config, port: int) -> Guard:
    origins = config[CORS_ORIGINS]
    return Guard(
        bind_host=config[HOST],
        port=port,
        public_origin=config[PUBLIC_ORIGIN],
        cors_origins=origins,
        trusts_proxy=config[TRUST_PROXY] is not None,
    )


def max_connections() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    available = MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else soft - RESERVED_DESCRIPTORS
    return max(16, min(MAX_CONNECTIONS, available))
