"""The second front: Hypercorn's trio worker carries the requests of the public port, with TLS and HTTP/2.

It parses, frames and keeps the deadlines of connections; guard, routes, errors and headers are the same application's.
What it can't do, our own front can: answer 503 beyond a number of connections, and cut a client that sends its head or
takes its answer too slowly. Imported only where it is chosen, since Hypercorn is an extra (`svc[hypercorn]`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, cast

import trio
from hypercorn.config import Config as HypercornConfig
from hypercorn.logging import Logger
from hypercorn.trio import serve
from hypercorn.typing import ASGIFramework

from svc.config import Config
from svc.log import Log
from svc.nursery import Child
from svc.protocol import DEFAULT_LIMITS, Application, AsgiFace, Drain, SocketLimits
from svc.settings import DRAIN_S, TLS_CERT_FILE, TLS_KEY_FILE

BACKLOG: Final = 1_024
"""Connections that the system holds until they are accepted."""
HANDSHAKE_S: Final = 10.0
"""A TLS handshake, from the connection on. Beyond: the connection closes."""
MAX_STREAMS: Final = 100
"""Requests at a time of one HTTP/2 connection. Beyond: the client waits."""


async def serve_by_hypercorn(
    child: Child, listeners: Sequence[trio.SocketListener], application: Application[Any], *, config: Config
) -> None:
    """Serve until the intake is cancelled. Then the port closes, and requests in flight have the drain's time."""
    drain = Drain()
    settings = _settings(config, log=child.log)
    settings.bind = [f"fd://{os.dup(listener.socket.fileno())}" for listener in listeners]
    for listener in listeners:
        await listener.aclose()
    face = AsgiFace(application, log=child.log, drain=drain)
    child.work.start_soon(partial(_serve, child, face, settings, drain), name="hypercorn")
    await trio.sleep_forever()


async def _serve(child: Child, face: AsgiFace, settings: HypercornConfig, drain: Drain) -> None:
    async def draining() -> None:
        await child.wait_draining()
        drain.begin()

    await serve(cast(ASGIFramework, face), settings, shutdown_trigger=draining, mode="asgi")


def _settings(config: Config, *, log: Log) -> HypercornConfig:
    certificate, key = config[TLS_CERT_FILE], config[TLS_KEY_FILE]
    sockets = SocketLimits()
    settings = HypercornConfig()
    settings.certfile = str(certificate) if certificate is not None else None
    settings.keyfile = str(key) if key is not None else None
    settings.backlog = BACKLOG
    settings.ssl_handshake_timeout = HANDSHAKE_S
    settings.keep_alive_timeout = DEFAULT_LIMITS.idle_s
    settings.keep_alive_max_requests = DEFAULT_LIMITS.requests_per_connection
    settings.h11_max_incomplete_size = DEFAULT_LIMITS.head_bytes
    settings.h2_max_header_list_size = DEFAULT_LIMITS.head_bytes
    settings.h2_max_concurrent_streams = MAX_STREAMS
    settings.websocket_ping_interval = sockets.ping_interval_s
    settings.websocket_max_message_size = sockets.message_bytes
    settings.graceful_timeout = float(config[DRAIN_S])
    settings.include_server_header = False
    settings.errorlog = None
    settings.logger_class = cast(type[Logger], partial(_FrontLog, log=log))
    return settings


class _FrontLog(Logger):
    """What Hypercorn has to say stands in our log. Each request is told there by the application already."""

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
