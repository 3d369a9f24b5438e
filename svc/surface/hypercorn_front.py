"""The second front: TLS, and HTTP/2 by Hypercorn's trio worker, on the public port.

What speaks HTTP/1.1 is served by our own connection, as by our own front: so it is read by the same rules and within
the same limits, and WebSockets are the same, too. Only what begins as HTTP/2 is Hypercorn's
(:mod:`~svc.surface.hypercorn_http2`). The number of connections is limited as in our own front, but none are reserved
for probes. Imported only if this front is chosen, because Hypercorn is an extra (`svc[hypercorn]`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from ssl import SSLContext
from typing import Any, Final, cast

import trio
from hypercorn.config import Config as HypercornConfig
from hypercorn.logging import Logger

from svc.config import Config
from svc.doors import Crowd, Shortage, ToTheLast, turn_away
from svc.log import Log
from svc.nursery import Child
from svc.protocol import (
    DEFAULT_LIMITS,
    Application,
    AsgiFace,
    Drain,
    Idle,
    Limits,
    SocketLimits,
    serve_connection,
)
from svc.settings import DRAIN_S, TLS_CERT_FILE, TLS_KEY_FILE
from svc.surface.hypercorn_http2 import MAX_STREAMS, Http2
from svc.surface.tls_stream import TlsStream

HANDSHAKE_S: Final = 10.0
"""A TLS handshake, from the connection on. Beyond: the connection closes."""
_SOCKETS: Final = SocketLimits()


async def serve_by_hypercorn(
    child: Child,
    listeners: Sequence[trio.SocketListener],
    application: Application[Any],
    *,
    config: Config,
    slots: trio.Semaphore,
    shortage: Shortage,
    limits: Limits = DEFAULT_LIMITS,
    sockets: SocketLimits = _SOCKETS,
) -> None:
    """Serve until the intake is cancelled. Then the port closes, and requests in flight have the drain's time."""
    drain, idle = Drain(), Idle()
    settings = _settings(config, log=child.log, limits=limits, sockets=sockets)
    front = _Front(
        application=application,
        http2=Http2(
            face=AsgiFace(application, log=child.log, drain=drain, limits=limits),
            settings=settings,
            log=child.log,
            limits=limits,
            message_bytes=sockets.message_bytes,
        ),
        tls=settings.create_ssl_context(),
        slots=slots,
        crowd=Crowd(child.log),
        log=child.log,
        drain=drain,
        idle=idle,
        limits=limits,
        sockets=sockets,
    )
    child.work.start_soon(idle.run, limits, drain)
    child.work.start_soon(_pass_on_drain, child, front)
    handler = partial(_serve, front=front)
    to_the_last = [ToTheLast(one, partial(child.work.start_soon, handler), shortage) for one in listeners]
    await trio.serve_listeners(handler, to_the_last, handler_nursery=child.work)


@dataclass(frozen=True, kw_only=True)
class _Front:
    """What all connections have in common. ``tls`` is ``None`` without a certificate."""

    application: Application[Any]
    http2: Http2
    tls: SSLContext | None
    slots: trio.Semaphore
    crowd: Crowd
    log: Log
    drain: Drain
    idle: Idle
    limits: Limits
    sockets: SocketLimits


async def _serve(plain: trio.SocketStream, *, front: _Front) -> None:
    """Serve one connection if there is room for it."""
    stream = plain if front.tls is None else TlsStream(plain, front.tls)
    try:
        front.slots.acquire_nowait()
    except trio.WouldBlock:
        await turn_away(stream, crowd=front.crowd, date=front.application.http_date())
        return
    front.crowd.within()
    try:
        await _speak(stream, _peer(plain), front)
    except* Exception as group:  # a fault of Hypercorn's on one connection must not end the others
        front.log.error("http.connection_failed", group)
    finally:
        await trio.aclose_forcefully(stream)
        front.slots.release()


async def _speak(stream: trio.SocketStream | TlsStream, peer: str, front: _Front) -> None:
    """Speak what the client speaks: it says so in the TLS handshake, or by its first bytes."""
    is_secure = isinstance(stream, TlsStream)
    by_hypercorn = partial(front.http2.serve, stream, peer=peer, is_secure=is_secure)
    if isinstance(stream, TlsStream):
        if not await stream.shake_hands(within_s=HANDSHAKE_S):
            return
        if stream.protocol == "h2":
            await by_hypercorn(b"")
            return
    await serve_connection(
        stream,
        front.application,
        log=front.log,
        peer=peer,
        drain=front.drain,
        idle=front.idle,
        secure=is_secure,
        limits=front.limits,
        socket_limits=front.sockets,
        http2=by_hypercorn,
    )


def _peer(plain: trio.SocketStream) -> str:
    try:
        return str(plain.socket.getpeername()[0])
    except OSError:
        return ""  # the client left before it was served


async def _pass_on_drain(child: Child, front: _Front) -> None:
    await child.wait_draining()
    front.drain.begin()
    await front.http2.drain(child.work)


def _settings(config: Config, *, log: Log, limits: Limits, sockets: SocketLimits) -> HypercornConfig:
    certificate, key = config[TLS_CERT_FILE], config[TLS_KEY_FILE]
    settings = HypercornConfig()
    settings.certfile = str(certificate) if certificate is not None else None
    settings.keyfile = str(key) if key is not None else None
    settings.keep_alive_timeout = limits.idle_s
    settings.keep_alive_max_requests = limits.requests_per_connection
    settings.h2_max_header_list_size = limits.head_bytes
    settings.h2_max_concurrent_streams = MAX_STREAMS
    settings.websocket_ping_interval = sockets.ping_interval_s
    settings.websocket_max_message_size = sockets.message_bytes
    settings.graceful_timeout = float(config[DRAIN_S])
    settings.include_server_header = settings.include_date_header = False  # every answer of ours has its date
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
        """Called where an exception is handled."""
        self._log.error("http.front", sys.exception(), said=message % args if args else message)
