"""The second front: Hypercorn's trio worker serves the public port, with TLS and HTTP/2.

Hypercorn parses, frames and keeps the deadlines of connections. Guard, routes, errors and headers are those of the same
application. The number of connections is limited as in our own front, but none are reserved for probes. Unlike our own
front, it can't cut off a client that sends its head or reads its answer too slowly. Hypercorn's server for one
connection is used as its own accept loop uses it, with one change: in that loop, a connection whose client is gone
stays until its idle time is over and the next WebSocket ping is due. Imported only if this front is chosen, because
Hypercorn is an extra (`svc[hypercorn]`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, cast

import trio
from hypercorn.config import Config as HypercornConfig
from hypercorn.events import Event, Updated
from hypercorn.logging import Logger
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ASGIFramework, ConnectionState
from hypercorn.utils import wrap_app

from svc.config import Config
from svc.doors import turn_away
from svc.log import Log
from svc.nursery import Child
from svc.protocol import DEFAULT_LIMITS, Application, AsgiFace, Drain, Limits, SocketLimits
from svc.settings import DRAIN_S, TLS_CERT_FILE, TLS_KEY_FILE

HANDSHAKE_S: Final = 10.0
"""A TLS handshake, from the connection on. Beyond: the connection closes."""
MAX_STREAMS: Final = 100
"""Requests at a time of one HTTP/2 connection. Beyond: the client waits."""
_SOCKETS: Final = SocketLimits()


async def serve_by_hypercorn(
    child: Child,
    listeners: Sequence[trio.SocketListener],
    application: Application[Any],
    *,
    config: Config,
    slots: trio.Semaphore,
    limits: Limits = DEFAULT_LIMITS,
    sockets: SocketLimits = _SOCKETS,
) -> None:
    """Serve until the intake is cancelled. Then the port closes, and requests in flight have the drain's time."""
    drain, context = Drain(), WorkerContext(None)
    settings = _settings(config, log=child.log, limits=limits, sockets=sockets)
    face = AsgiFace(application, log=child.log, drain=drain)
    application_of_theirs = wrap_app(cast(ASGIFramework, face), settings.wsgi_max_body_size, "asgi")
    server = partial(_Connection, application_of_theirs, settings, context)
    tls = settings.create_ssl_context()
    opened = [one if tls is None else trio.SSLListener(one, tls, https_compatible=True) for one in listeners]
    child.work.start_soon(_pass_on_drain, child, drain, context)
    handler = partial(_serve, server=server, slots=slots, log=child.log)
    await trio.serve_listeners(handler, opened, handler_nursery=child.work)


async def _serve(
    stream: trio.SocketStream | trio.SSLStream[trio.SocketStream],
    *,
    server: Callable[[Any], Awaitable[None]],
    slots: trio.Semaphore,
    log: Log,
) -> None:
    """Serve one connection if there is room for it."""
    try:
        slots.acquire_nowait()
    except trio.WouldBlock:
        log.warning("http.too_many_connections", turned_away=True)
        await turn_away(stream)
        return
    try:
        await server(stream)
    finally:
        slots.release()


class _Connection(TCPServer):
    """Ends as soon as its client is gone: no task waits any longer once all received data was handed on."""

    def __init__(self, application: AppWrapper, settings: HypercornConfig, context: WorkerContext, stream: Any) -> None:
        self._over = trio.Event()
        super().__init__(application, settings, _Context(context, self._over), ConnectionState({}), stream)

    async def _read_data(self) -> None:
        await super()._read_data()
        self._over.set()
        await self.idle_task.stop()

    async def protocol_send(self, event: Event) -> None:
        """Once the client is gone, drop ``Updated``: a late answer must not make the connection wait for a next
        request."""
        if not (self._over.is_set() and isinstance(event, Updated)):
            await super().protocol_send(event)


class _Context(WorkerContext):
    """A sleep between two pings ends when the connection is over."""

    def __init__(self, shared: WorkerContext, over: trio.Event) -> None:
        super().__init__(None)
        self.terminate, self.terminated = shared.terminate, shared.terminated
        self._over = over

    async def sleep(self, wait: float) -> None:  # type: ignore[override]  # theirs is static, and called on a context
        with trio.move_on_after(wait):
            await self._over.wait()


async def _pass_on_drain(child: Child, drain: Drain, context: WorkerContext) -> None:
    await child.wait_draining()
    drain.begin()
    await context.terminated.set()


def _settings(config: Config, *, log: Log, limits: Limits, sockets: SocketLimits) -> HypercornConfig:
    certificate, key = config[TLS_CERT_FILE], config[TLS_KEY_FILE]
    settings = HypercornConfig()
    settings.certfile = str(certificate) if certificate is not None else None
    settings.keyfile = str(key) if key is not None else None
    settings.ssl_handshake_timeout = HANDSHAKE_S
    settings.keep_alive_timeout = limits.idle_s
    settings.keep_alive_max_requests = limits.requests_per_connection
    settings.h11_max_incomplete_size = limits.head_bytes
    settings.h2_max_header_list_size = limits.head_bytes
    settings.h2_max_concurrent_streams = MAX_STREAMS
    settings.websocket_ping_interval = sockets.ping_interval_s
    settings.websocket_max_message_size = sockets.message_bytes
    settings.graceful_timeout = float(config[DRAIN_S])
    settings.include_server_header = False
    settings.errorlog = None
    settings.logger_class = cast(type[Logger], partial(_FrontLog, log=log))
    return settings


class _FrontLog(Logger):
    """Writes Hypercorn's messages into our log. It does not log requests: the application already does."""

    def __init__(self, config: HypercornConfig, *, log: Log) -> None:
        super().__init__(config)
        self._log = log

    async def warning(self, message: str, *args: Any, **kwargs: Any) -> None:
        self._log.warning("http.front", said=message % args if args else message)

    async def error(self, message: str, *args: Any, **kwargs: Any) -> None:
        await self.warning(message, *args)

    async def critical(self, message: str, *args: Any, **kwargs: Any) -> None:
        await self.warning(message, *args)

    async def exception(self, message: str, *args: Any, **kwargs: Any) -> None:
        await self.warning(message, *args)
