"""The interface to features that declare MCP servers: finds a server by its name, for the principal whose run asks.

A feature that reads declarations (pages under ``mcp/``) calls :meth:`McpServers.declare` with its lookup function.
Without any lookup there are no servers. Also owns the permissions to start a server: each hands out an environment
once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

import trio

from svc.errors import Forbidden, NotFound, Unavailable
from svc.principal import Principal

MAX_SPAWNS: Final = 1_000
SPAWN_S: Final = 60.0
"""How long a permission to start a server may stay unused."""


@dataclass(frozen=True, slots=True)
class FromCapability:
    """``{capability: NAME}``: the value is the credential with that name."""

    name: str


Value = str | FromCapability


class SignIn(Protocol):
    """The access that a person granted us at a server that wants a sign-in. Each method raises
    :class:`svc.errors.Refusal`.
    """

    async def token(self) -> str | None:
        """An access token; ``None`` if nobody has signed in."""
        ...

    async def renewed(self, stale: str) -> str | None:
        """A new token instead of ``stale``, which the server refused."""
        ...

    async def challenged(self, challenge: str) -> None:
        """The server wants access that we do not have, and sent this ``WWW-Authenticate``."""
        ...


@dataclass(frozen=True, kw_only=True)
class RemoteServer:
    """A server at an address.

    ``by_admin``: an admin declared it or agreed to it. For any other user only credentials kept for MCP servers may be
    used. So a page that any user may write can't send a model key to a host of its author.

    ``may_be_inside``: its address may be in this machine's own network, at any port. Otherwise it must be public, each
    time that its name is resolved.
    """

    url: str
    headers: Mapping[str, Value] = field(default_factory=dict)
    by_admin: bool = False
    may_be_inside: bool = False
    sign_in: SignIn | None = None


@dataclass(frozen=True, kw_only=True)
class LocalServer:
    """A server that a worker runs as a program. Only an admin may declare one; ``env`` is its environment."""

    env: Mapping[str, Value] = field(default_factory=dict)


Server = RemoteServer | LocalServer
Lookup = Callable[[Principal, str], Awaitable[Server | None]]


@dataclass(frozen=True, slots=True)
class _Spawn:
    run_id: str
    name: str
    until: float


class McpServers:
    def __init__(self) -> None:
        self._lookups: list[Lookup] = []
        self._spawns: list[_Spawn] = []

    def declare(self, lookup: Lookup) -> None:
        """Add a lookup. The first lookup that knows a server counts."""
        self._lookups.append(lookup)

    async def find(self, principal: Principal, name: str) -> Server:
        """Raises 404."""
        for lookup in self._lookups:
            server = await lookup(principal, name)
            if server is not None:
                return server
        raise NotFound(f"No MCP server {name!r} is declared.")

    def allow_spawn(self, run_id: str, name: str) -> None:
        """Let the run start this server once, soon, and get its environment for it."""
        self._drop_late()
        if len(self._spawns) >= MAX_SPAWNS:
            raise Unavailable("Too many MCP servers are about to be started.")
        self._spawns.append(_Spawn(run_id, name, trio.current_time() + SPAWN_S))

    def use_spawn(self, run_id: str, name: str) -> None:
        """Raises 403 if no permission is left."""
        self._drop_late()
        for spawn in self._spawns:
            if (spawn.run_id, spawn.name) == (run_id, name):
                self._spawns.remove(spawn)
                return
        raise Forbidden(
            f"This run was not allowed to start {name}, or has been given its environment already.",
            data={"reason": "not_granted"},
        )

    def _drop_late(self) -> None:
        self._spawns = [spawn for spawn in self._spawns if spawn.until > trio.current_time()]
