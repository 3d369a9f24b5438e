"""Where the requests of a sign-in may go: only to the public Internet by HTTPS, because a stranger names the addresses.

The address that an admin's page itself declares may be in this machine's own network, as for the server's calls; that
of a plugin only if it says so itself. A server on this machine may have its authorization server there, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from svc.broker import Outside
from svc.identity import HttpClient
from svc.mcp.servers import McpServer
from svc.protocol.egress import EgressFault, EgressResponse, FaultKind
from svc.protocol.pinned import PinnedEgress, PinnedFault
from svc.settings import PROFILE
from svc.workspace import Workspace

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_KINDS: Final[Mapping[str, FaultKind]] = {
    "refused": "connect",
    "unreachable": "connect",
    "tls": "tls",
    "timeout": "timeout",
    "too_large": "too_large",
    "protocol": "protocol",
}


@dataclass(frozen=True, kw_only=True)
class Way:
    """An :class:`svc.identity.HttpClient` for one server. ``own``: the origin that may be in this network; empty if
    none may. ``loopback``: whether any address of this machine may be asked.
    """

    inside: HttpClient
    outside: PinnedEgress
    own: str
    loopback: bool

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        deadline_s: float,
        limit_bytes: int,
    ) -> EgressResponse:
        """Raises :class:`EgressFault`; never follows a redirect."""
        if self.lies_inside(url):
            return await self.inside.request(
                method, url, headers=headers, body=body, deadline_s=deadline_s, limit_bytes=limit_bytes
            )
        try:
            answer = await self.outside.request(
                method, url, headers=headers, body=body or b"", deadline_s=deadline_s, limit_bytes=limit_bytes
            )
        except PinnedFault as fault:
            raise EgressFault(_KINDS[fault.kind], fault.detail, may_have_happened=True) from None
        return EgressResponse(status=answer.status, headers=answer.headers, body=answer.body)

    def lies_inside(self, url: str) -> bool:
        """Whether the address is one that may be in this machine's network."""
        return origin_of(url) == self.own or (self.loopback and urlsplit(url).hostname in LOOPBACK)


def way_to(workspace: Workspace, server: McpServer) -> Way:
    trusted = server.may_be_inside and workspace.config[PROFILE] == "local"
    url = server.declaration.url
    return Way(
        inside=workspace.egress,
        outside=workspace.service(Outside).pinned,
        own=origin_of(url) if trusted else "",
        loopback=trusted and urlsplit(url).hostname in LOOPBACK,
    )


def origin_of(url: str) -> str:
    """The scheme, host and port of a checked address, in one normal form."""
    parts = urlsplit(url)
    standard = {"https": 443, "http": 80}.get(parts.scheme)
    port = "" if parts.port in {None, standard} else f":{parts.port}"
    host = parts.hostname or ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"
