"""The addresses on which a process listens, by its role and its settings, and why listening on one fails."""

from __future__ import annotations

import errno
import socket
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

import trio

from svc.config import Config, ConfigError, ConfigFault
from svc.settings import HOST, INTERNAL_PORT, PORT, WORKER_URL

Role = Literal["all", "web", "worker"]
"""The planes that a process runs: both, only the trusted one, or only the worker plane."""
Front = Literal["own", "hypercorn"]
"""What serves the public port: our own HTTP server, or Hypercorn, for TLS and HTTP/2."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """An address to listen on, and the settings that define it."""

    host: str
    port: int
    port_setting: str
    host_setting: str


def addresses(config: Config, role: Role) -> tuple[Address, ...]:
    """The addresses for a process of that role. The first one of a web plane is the public one."""
    if role == "worker":
        port = urlsplit(config[WORKER_URL]).port or 0
        return (Address(host="127.0.0.1", port=port, port_setting=WORKER_URL.name, host_setting=WORKER_URL.name),)
    internal = INTERNAL_PORT.name
    return (
        Address(host=config[HOST], port=config[PORT], port_setting=PORT.name, host_setting=HOST.name),
        Address(host="127.0.0.1", port=config[INTERNAL_PORT], port_setting=internal, host_setting=internal),
    )


@asynccontextmanager
async def open_listeners(config: Config, role: Role) -> AsyncIterator[Sequence[Sequence[trio.SocketListener]]]:
    """Open the ports first: a port in use raises :class:`ConfigError` before anything else is touched. They are always
    closed again.
    """
    opened: list[Sequence[trio.SocketListener]] = []
    try:
        for address in addresses(config, role):
            try:
                opened.append(await trio.open_tcp_listeners(address.port, host=address.host))
            except OSError as error:
                raise ConfigError([listening_fault(address, error)], {}) from error
        yield opened
    finally:
        for listeners in opened:
            for listener in listeners:
                await listener.aclose()


def ports_are_free(role: Role, config: Config) -> Iterable[ConfigFault]:
    """A rule: no other program listens on these addresses now."""
    for address in addresses(config, role):
        try:
            bind_once(address)
        except OSError as error:
            yield listening_fault(address, error)


def listening_fault(address: Address, error: OSError) -> ConfigFault:
    """The fault that says why listening on the address fails."""
    host, port = address.host, address.port
    causes = {error.errno, *(getattr(one, "errno", None) for one in getattr(error.__cause__, "exceptions", ()))}
    if errno.EADDRINUSE in causes:
        return ConfigFault(
            address.port_setting, f"port {port} is in use by another program", "stop it, or set another port"
        )
    if errno.EACCES in causes:
        return ConfigFault(
            address.port_setting, f"port {port} needs more rights than this user has", "set one above 1023"
        )
    return ConfigFault(address.host_setting, f"can't listen on {host} port {port} ({error})", "set another address")


def bind_once(address: Address) -> None:
    """Raises ``OSError`` if listening on the address is not possible now."""
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    for family, kind, protocol, _, where in found:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            probe.bind(where)
