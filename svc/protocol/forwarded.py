"""What a proxy in front says of a request, and from whom it is believed.

Theory. Anybody can write ``X-Real-IP`` and ``X-Forwarded-Proto``. A word about a request counts only if the socket's
other end is a proxy of ours, which replaces what the client wrote, and if it is said once: of a name that comes twice
one may be the client's own. Where a proxy is trusted but not named, its address is one that no stranger on the Internet
can come from: this machine's, or a private network's.

Owns that list and the reading. It changes no request.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from svc.protocol.messages import Request

Network = IPv4Network | IPv6Network

NEAR_NETWORKS: Final[tuple[Network, ...]] = tuple(
    ip_network(network)
    for network in (
        "127.0.0.0/8",  # this machine
        "::1/128",
        "10.0.0.0/8",  # private
        "172.16.0.0/12",
        "192.168.0.0/16",
        "fc00::/7",
        "100.64.0.0/10",  # shared between a provider and its customers: a hosting platform's own network
        "169.254.0.0/16",  # link-local
        "fe80::/10",
    )
)


@dataclass(frozen=True)
class Forwarded:
    """``believed`` are the networks that a proxy of ours speaks from; nobody's word counts without one."""

    believed: tuple[Network, ...] = ()

    def said(self, request: Request, name: str) -> str | None:
        """The one value of a header that a believed proxy sent; ``None`` if it said nothing, or not plainly."""
        values = request.headers.all(name)
        return values[0] if len(values) == 1 and self._believes(request.peer) else None

    def _believes(self, peer: str) -> bool:
        if not self.believed:
            return False
        try:
            address = ip_address(peer.partition("%")[0])
        except ValueError:
            return False
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address in network for network in self.believed)
