"""One run of the escrow service, from an open port to a closed pool."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import trio

from svc.clock import Clock
from svc.config import Config, ConfigError
from svc.control_plane.database import Database
from svc.control_plane.plane import Plane
from svc.control_plane.routes import ROUTES
from svc.control_plane.settings import (
    DATABASE_URL,
    DB_POOL_SIZE,
    DB_SSL,
    ESCROW_HOST,
    ESCROW_PORT,
    PLATFORM_PORT,
    SHUTDOWN_MS,
    port_of,
)
from svc.doors import Door, max_connections, serve_port
from svc.listening import Address, listening_fault
from svc.log import Log
from svc.nursery import Child, Root, Subsystem, open_task_group, watch_signals
from svc.principal import Principal
from svc.protocol import Application, Guard, MachinesGuard, Request, Router


async def serve(
    config: Config,
    *,
    clock: Clock,
    log: Log,
    root: Root,
    signals: bool = True,
    announce: Callable[[int, Plane], None] = lambda port, plane: None,
) -> None:
    """Boots, serves until a signal or until ``root`` drains, then closes. ``announce`` is called with the port, and
    what serves there, once it serves.

    Raises :class:`ConfigError` and, if the database stays away, :class:`Unavailable`.
    """
    url = config[DATABASE_URL]
    assert url is not None, "a rule asked for it"
    listeners = await _listen(config)
    try:
        async with (
            Database(url, ssl=config[DB_SSL], pool_size=config[DB_POOL_SIZE], log=log) as database,
            open_task_group() as nursery,
        ):
            if signals:
                await nursery.start(partial(watch_signals, to_the_end=True), root)
            plane = Plane(config=config, database=database, log=log)
            await _boot(plane, root)
            door = Door(application=application_of(plane, clock=clock), slots=trio.Semaphore(max_connections()))

            async def http(child: Child) -> None:
                child.started()
                port = listeners[0].socket.getsockname()[1]
                log.info("escrow.listening", host=config[ESCROW_HOST], port=port)
                announce(port, plane)
                await serve_port(child, listeners, [door], linger=plane.finish)

            await root.run([Subsystem(name="http", run=http, essential=True, drain_s=config[SHUTDOWN_MS] / 1_000)])
            nursery.cancel_scope.cancel()
    finally:
        for listener in listeners:
            await listener.aclose()


def application_of(plane: Plane, *, clock: Clock) -> Application[Plane]:
    return Application(
        router=Router(ROUTES),
        guard=_guard(plane.config),
        resolve=_nobody,
        context=lambda request, principal: plane,
        log=plane.log,
        clock=clock,
        logged_as="escrow.request",
        traffic=plane.traffic,
    )


async def _boot(plane: Plane, root: Root) -> None:
    """Stops at the first signal; then the root has nothing to start."""
    async with open_task_group() as nursery:

        async def give_up() -> None:
            await root.wait_draining()
            nursery.cancel_scope.cancel()

        nursery.start_soon(give_up)
        await plane.boot()
        nursery.cancel_scope.cancel()


async def _nobody(request: Request) -> Principal | None:
    """There are no users here; the credential is checked with each call."""
    return None


def _guard(config: Config) -> Guard:
    return MachinesGuard(port=port_of(config))


async def _listen(config: Config) -> list[trio.SocketListener]:
    host, port = config[ESCROW_HOST], port_of(config)
    setting = ESCROW_PORT.name if config[PLATFORM_PORT] is None else PLATFORM_PORT.name
    try:
        return await trio.open_tcp_listeners(port, host=host)
    except OSError as error:
        address = Address(host=host, port=port, port_setting=setting, host_setting=ESCROW_HOST.name)
        raise ConfigError([listening_fault(address, error)], {}) from error
