"""Serves the connections of one port: within a limit and, on drain, until the requests that have begun are finished.

The listener is the intake, the connections are the work: on drain the port closes at once, the idle connections a
moment later, and requests in flight have the drain's time to finish. The public listener and the internal one both use
it.
"""

from __future__ import annotations

import resource
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import trio

from svc.doors.crowd import Crowd
from svc.doors.full import turn_away
from svc.doors.shortage import PAUSE_S, Shortage
from svc.log import Log
from svc.nursery import Child
from svc.protocol import DEFAULT_LIMITS, Application, Drain, Idle, Limits, is_readable, serve_connection

RESERVED_DESCRIPTORS: Final = 128
"""Open files kept for the database, blobs, outgoing connections and the probes, of those that the system allows.
Beyond: so many connections fewer are served."""
MAX_CONNECTIONS: Final = 10_000
"""Connections to the public port, fewer where the system allows fewer open files. Beyond: 503 `unavailable`
with `Retry-After`, but for `/livez`."""
_ACCEPT_S: Final = 1.0


@dataclass(frozen=True, kw_only=True)
class Door:
    """Serves at most ``slots`` connections at a time."""

    application: Application[Any]  # of any context
    slots: trio.Semaphore
    limits: Limits = DEFAULT_LIMITS
    idle: Idle = field(default_factory=Idle)


async def serve_port(
    child: Child,
    listeners: Sequence[trio.SocketListener],
    doors: Sequence[Door],
    *,
    linger: Callable[[], Awaitable[None]] | None = None,
    shortage: Shortage | None = None,
) -> None:
    """Serve until the intake is cancelled. The first door with room takes each connection.

    ``linger``: on drain, the port and the idle connections stay open until it returns.
    """
    shortage = shortage or Shortage(child.log)
    drain = Drain()
    for door in doors:
        child.work.start_soon(door.idle.run, door.limits, drain)
    handler = partial(_serve, doors=doors, crowd=Crowd(child.log), log=child.log, drain=drain)
    to_the_last = [ToTheLast(one, partial(child.work.start_soon, handler), shortage) for one in listeners]
    serve = partial(trio.serve_listeners, handler, to_the_last, handler_nursery=child.work)
    if linger is not None:
        child.work.start_soon(_serve_on, child, drain, serve, linger)
        await trio.sleep_forever()
    child.work.start_soon(_pass_on_drain, child, drain)
    await serve()


async def _serve_on(
    child: Child, drain: Drain, serve: Callable[[], Awaitable[None]], linger: Callable[[], Awaitable[None]]
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        await child.wait_draining()
        await linger()
        drain.begin()
        nursery.cancel_scope.cancel()


class ToTheLast(trio.abc.Listener[trio.SocketStream]):
    """Before it closes, it takes the connections that the system has already accepted: it would reset them, and their
    clients may have sent a request. From the last look to the close no other task runs, so hardly one comes between.

    While the system has no descriptor for a further connection, it pauses and tries again."""

    def __init__(
        self, listener: trio.SocketListener, serve: Callable[[trio.SocketStream], object], shortage: Shortage
    ) -> None:
        self._listener = listener
        self._serve = serve
        self._shortage = shortage

    async def accept(self) -> trio.SocketStream:
        while True:
            try:
                return await self._listener.accept()
            except OSError as error:
                if not self._shortage.explains(error):
                    raise
            await trio.sleep(PAUSE_S)

    async def aclose(self) -> None:
        try:
            with trio.move_on_after(_ACCEPT_S, shield=True), suppress(OSError):  # an error: no descriptor is left
                self._listener.socket.listen(0)  # the system accepts no more than one at a time from now on
                while is_readable(self._listener.socket):
                    self._serve(await self._listener.accept())
        finally:
            await self._listener.aclose()


async def _serve(stream: trio.SocketStream, *, doors: Sequence[Door], crowd: Crowd, log: Log, drain: Drain) -> None:
    """Serve one connection by the first door that has room. If no door has room, it is turned away before it can hold
    anything."""
    door = next((one for one in doors if _enters(one)), None)
    if door is None:
        await turn_away(stream, crowd=crowd, date=doors[0].application.http_date())
        return
    if door is doors[0]:
        crowd.within()
    else:
        crowd.beyond(turned_away=False)
    try:
        peer = stream.socket.getpeername()[0]
    except OSError:
        peer = ""  # the client left before it was served
    try:
        await serve_connection(
            stream, door.application, log=log, peer=peer, drain=drain, idle=door.idle, limits=door.limits
        )
    finally:
        door.slots.release()


def _enters(door: Door) -> bool:
    try:
        door.slots.acquire_nowait()
    except trio.WouldBlock:
        return False
    return True


async def _pass_on_drain(child: Child, drain: Drain) -> None:
    await child.wait_draining()
    drain.begin()


def max_connections() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    available = MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else soft - RESERVED_DESCRIPTORS
    return max(16, min(MAX_CONNECTIONS, available))
