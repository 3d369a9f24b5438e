"""What `svc serve` looks at before it opens or binds anything, so that every fault is told at once.

Rules like those of the settings, but about this machine: the home, the port, and who could claim the instance. Owns no
state, changes nothing, and keeps nothing open.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import trio

from svc.clock import WallClock
from svc.config import Config, ConfigFault, Rule
from svc.identity import CLAIM_TOKEN, anybody_could_claim
from svc.nursery import ThreadPool
from svc.settings import HOME, HOST, INTERNAL_PORT, INTERNAL_TOKEN, PORT, WORKER_URL, is_loopback
from svc.store import ROOMS, CannotOpen, Home, Store

Role = Literal["all", "web", "worker"]
"""Which planes a process runs: both, the trusted one, or the worker's."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where to listen, and by which settings that was said."""

    host: str
    port: int
    port_setting: str
    host_setting: str


def addresses(config: Config, role: Role) -> tuple[Address, ...]:
    """What a process of that role listens on. The first of a web plane is the public one."""
    if role == "worker":
        port = urlsplit(config[WORKER_URL]).port or 0
        return (Address(host="127.0.0.1", port=port, port_setting=WORKER_URL.name, host_setting=WORKER_URL.name),)
    internal = INTERNAL_PORT.name
    return (
        Address(host=config[HOST], port=config[PORT], port_setting=PORT.name, host_setting=HOST.name),
        Address(host="127.0.0.1", port=config[INTERNAL_PORT], port_setting=internal, host_setting=internal),
    )


def serve_rules(role: Role) -> tuple[Rule, ...]:
    ports_are_free = partial(_ports_are_free, role)
    if role == "worker":
        return (_worker_is_known, ports_are_free)
    return (_home_is_usable, ports_are_free, _strangers_can_not_claim)


def listening_fault(address: Address, error: OSError) -> ConfigFault:
    """Why the address can't be listened on."""
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


def _home_is_usable(config: Config) -> Iterable[ConfigFault]:
    home = config[HOME]
    for path in (home, *(home / room for room in ROOMS)):
        why = _unusable(path)
        if why is not None:
            remedy = "make it a directory you may write, or set SVC_HOME to another"
            yield ConfigFault(HOME.name, f"{path} can't be used: {why}", remedy)
            return


def _unusable(path: Path) -> str | None:
    """What stands against writing in ``path``, or against making it."""
    try:
        while not path.exists() and path != path.parent:
            path = path.parent
        if not path.is_dir():
            return f"{path} is not a directory"
    except OSError as error:
        return error.strerror or str(error)
    return None if os.access(path, os.W_OK | os.X_OK) else f"{path} can't be written by this user"


def _ports_are_free(role: Role, config: Config) -> Iterable[ConfigFault]:
    for address in addresses(config, role):
        try:
            _bind_once(address)
        except OSError as error:
            yield listening_fault(address, error)


def _bind_once(address: Address) -> None:
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    for family, kind, protocol, _, where in found:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            probe.bind(where)


def _worker_is_known(config: Config) -> Iterable[ConfigFault]:
    if config[INTERNAL_TOKEN] is None:
        yield ConfigFault(
            INTERNAL_TOKEN.name,
            "a worker of its own and its web plane know each other by it",
            "set the same long random token for both",
        )


def _strangers_can_not_claim(config: Config) -> Iterable[ConfigFault]:
    """A bind that others can reach needs a credential for the first sign-in, or an owner already."""
    if is_loopback(config[HOST]) or config[CLAIM_TOKEN] is not None or not trio.run(_could_claim, config[HOME]):
        return
    yield ConfigFault(
        CLAIM_TOKEN.name,
        f"this instance is unclaimed and {config[HOST]!r} can be reached by others",
        "set a long random claim token, or run `svc invite --admin` first",
    )


async def _could_claim(home: Path) -> bool:
    """Whether the home, as it lies there, leaves the claim to whoever comes first. The boot looks once more."""
    database = Home.database_of(home)
    if not database.exists():
        return True
    try:
        store = Store.open(database, clock=WallClock(), threads=ThreadPool(limit=1, name="preflight"), read_only=True)
    except CannotOpen:
        return False  # the boot says more
    try:
        return store.read_now(anybody_could_claim)
    finally:
        store.close_now()
