"""Reads what a proxy in front says about a request, and decides which proxy is believed.

Theory. Anybody can write ``X-Real-IP`` and ``X-Forwarded-Proto``. Such a header counts only if the other end of the
socket is a proxy of ours, which replaces what the client wrote, and if the header comes once: of two with the same
name, one may be the client's own. Where a proxy is trusted but not named, its address must be one that no stranger on
the Internet can have: an address of this machine, or of a private network.

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
        "100.64.0.0/10",  # shared between a provider and its customers: the internal network of a hosting platform
        "169.254.0.0/16",  # link-local
        "fe80::/10",
    )
)


@dataclass(frozen=True)
class Forwarded:
    """``believed``: the networks of our proxies. If it is empty, no such header counts."""

    believed: tuple[Network, ...] = ()

    def said(self, request: Request, name: str) -> str | None:
        """The one value of a header that a believed proxy sent; ``None`` if there is none, or more than one."""
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
