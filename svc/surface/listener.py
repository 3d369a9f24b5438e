"""The public listener: the port for everybody, with the app, RPC and live updates. Also what it and the internal
listener are built of.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import trio

from svc.config import Config
from svc.doors import Door, Internal, Shortage, max_connections, serve_port
from svc.feature import routes_of
from svc.identity import CORS_ORIGINS, Identity, believed_proxies
from svc.listening import Front
from svc.nursery import Child, Subsystem, open_task_group
from svc.principal import Principal
from svc.protocol import (
    Application,
    Guard,
    Request,
    Router,
    RpcLayer,
    StaticTree,
    Traffic,
)
from svc.runs import Dispatcher
from svc.settings import DRAIN_S, HOST, INTERNAL_TOKEN, PORT, PUBLIC_ORIGIN, canonical_origin, is_hosted
from svc.store import INTERNAL_PORT_FILE, INTERNAL_TOKEN_FILE, Home
from svc.surface.assets import static_directory
from svc.surface.live import FanOut
from svc.surface.overload import LIMITS, RESERVED_CONNECTIONS, Overloaded
from svc.switches import SWITCHES, is_on
from svc.workspace import RequestContext, Workspace

_TOKEN_BYTES: Final = 32


@dataclass(kw_only=True)
class Surface:
    """The service behind the port. The boot code opens ``listeners``, so that a port in use is reported early."""

    workspace: Workspace
    static: StaticTree
    rpc: RpcLayer[RequestContext]
    listeners: list[trio.SocketListener] = field(default_factory=list)
    port: int = 0
    announce: Callable[[str], None] = lambda origin: None
    front: Front = "own"
    traffic: Traffic = field(default_factory=Traffic)
    max_connections: int = field(default_factory=lambda: max_connections())
    shortage: Shortage
    _open: trio.Semaphore | None = None
    _application: Application[RequestContext] | None = None

    @property
    def origin(self) -> str:
        """The address of this instance for a browser."""
        return canonical_origin(self.workspace.config, port=self.port)

    @property
    def open_connections(self) -> int | None:
        """The number of open connections on the public port. ``None`` before the port is served."""
        return None if self._open is None else self.max_connections - self._open.value

    def take(self, listeners: Sequence[trio.SocketListener]) -> None:
        """Take over the open listeners; from now on the port is known."""
        self.listeners = list(listeners)
        self.port = self.workspace.port = self.listeners[0].socket.getsockname()[1]
        self.workspace.home.note_port(self.port)

    async def run(self, child: Child) -> None:
        listeners = self.listeners or await self._listen_again()
        self.listeners = []  # the front that serves them closes them
        child.started()
        child.log.info("http.listening", origin=self.origin, port=self.port, front=self.front)
        self.announce(self.origin)
        async with open_task_group() as nursery:
            nursery.start_soon(self.workspace.service(FanOut).run)
            self._open = trio.Semaphore(self.max_connections)
            if self.front == "own":
                await self._serve(child, listeners, self._open)
            else:
                from svc.surface.hypercorn_front import serve_by_hypercorn  # an extra, so it may not be installed

                await serve_by_hypercorn(
                    child,
                    listeners,
                    self.build_application(),
                    config=self.workspace.config,
                    slots=self._open,
                    shortage=self.shortage,
                )

    async def _serve(self, child: Child, listeners: Sequence[trio.SocketListener], slots: trio.Semaphore) -> None:
        overloaded = self.build_application(Overloaded)
        doors = [
            Door(application=self.build_application(), slots=slots),
            Door(application=overloaded, slots=trio.Semaphore(RESERVED_CONNECTIONS), limits=LIMITS),
        ]
        await serve_port(child, listeners, doors, shortage=self.shortage)

    async def _listen_again(self) -> list[trio.SocketListener]:
        """Listen on the same port again, after a crash."""
        config = self.workspace.config
        return await trio.open_tcp_listeners(self.port or config[PORT], host=config[HOST])

    def build_application(self, kind: type[Application[RequestContext]] = Application) -> Application[RequestContext]:
        """Join guard, routes and RPC, for any front that carries the requests."""
        workspace = self.workspace
        return kind(
            router=Router(
                routes_of(workspace.features, "public"),
                [row for feature in workspace.features for row in feature.sockets],
                never=_INTERNAL,
            ),
            guard=_guard(workspace.config, self.port),
            resolve=workspace.service(Identity).resolve,
            context=partial(_call, workspace),
            log=workspace.log,
            clock=workspace.clock,
            known_names=frozenset(row.name for row in self.rpc.rows()),
            unknown=self.static.missing,
            traffic=self.traffic,
            challenge=_CHALLENGE,
        )


_CHALLENGE: Final = 'DeviceToken header="X-SVC-Device-Token"'
"""The token of a device is in a header of its own here, so `Bearer` would send a client the wrong way."""
_INTERNAL: Final = ("/internal/", "/.well-known/workflow/")
"""Places of the internal listener."""


def build(workspace: Workspace) -> None:
    procedures = [row for feature in workspace.features for row in feature.procedures]
    workspace.provide(
        Surface(
            workspace=workspace,
            static=StaticTree.load(static_directory(), off=switched_off(workspace.config)),
            rpc=RpcLayer(procedures, log=workspace.log),
            shortage=Shortage(workspace.log),
        )
    )
    workspace.provide(FanOut())
    workspace.provide(
        Internal(
            name="internal",
            rows=routes_of(workspace.features, "internal"),
            context=partial(_call, workspace),
            log=workspace.log,
            clock=workspace.clock,
        )
    )


async def boot(workspace: Workspace) -> None:
    """Set the token of the internal listener: the environment's, else a new one in the home, for all who may read
    that."""
    internal = workspace.service(Internal)
    given = workspace.config[INTERNAL_TOKEN]
    token = given if given is not None else await workspace.threads.run(_new_token, workspace.home.path)
    internal.trust(token)
    if internal.port:
        await workspace.threads.run(Home.tell, workspace.home.path, INTERNAL_PORT_FILE, str(internal.port))
    workspace.service(Dispatcher).token = token


def _new_token(home: Path) -> str:
    """A token for this boot, in ``run/internal.token`` of the home, which only its owner can read."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    Home.tell(home, INTERNAL_TOKEN_FILE, token)
    return token


async def subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    surface, internal = workspace.service(Surface), workspace.service(Internal)
    drain_s = float(workspace.config[DRAIN_S])
    served = [Subsystem(name="internal", run=internal.run, drain_s=drain_s)] if internal.listeners else []
    return [*served, Subsystem(name="http", run=surface.run, drain_s=drain_s)]


def switched_off(config: Config) -> list[str]:
    """The parts of this service that are switched off."""
    return [row.name for row in SWITCHES if not is_on(config, row)]


def _call(workspace: Workspace, request: Request, principal: Principal | None) -> RequestContext:
    return RequestContext(workspace=workspace, principal_or_none=principal, request_id=request.id)


def _guard(config: Config, port: int) -> Guard:
    origins = config[CORS_ORIGINS]
    return Guard(
        bind_host=config[HOST],
        port=port,
        public_origin=config[PUBLIC_ORIGIN],
        cors_origins=origins,
        forwarded=believed_proxies(config),
        only_public=is_hosted(config),
    )
