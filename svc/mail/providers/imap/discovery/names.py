"""Reads a domain's mail records in the DNS: the servers that receive its mail (MX), and those for IMAP and SMTP (SRV).

RFC 6186 and 8314, with the order of RFC 2782. The name "." means that there is no server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import dns.asyncresolver
import dns.exception
import dns.rdatatype
import dns.resolver

from svc.mail.providers.imap.discovery.model import Found
from svc.mail.providers.imap.servers import MailServer, Security, checked

ANSWER_S: Final = 5.0
MAX_ANSWERS: Final = 16

_IMAP: Final[tuple[tuple[str, Security], ...]] = (("_imaps._tcp", "tls"), ("_imap._tcp", "starttls"))
_SMTP: Final[tuple[tuple[str, Security], ...]] = (("_submissions._tcp", "tls"), ("_submission._tcp", "starttls"))


@dataclass(frozen=True, kw_only=True)
class Target:
    host: str
    port: int


class Names(Protocol):
    """Queries to the DNS. A query that fails gives an empty result."""

    async def exchangers(self, domain: str) -> Sequence[str]:
        """The MX hosts of a domain, the preferred one first."""
        ...

    async def services(self, name: str) -> Sequence[Target]:
        """The SRV targets of a name, the preferred one first."""
        ...


@dataclass(frozen=True, kw_only=True)
class SystemNames:
    """Queries through the resolvers of this machine."""

    resolver: Callable[[], dns.asyncresolver.Resolver] = dns.asyncresolver.Resolver

    async def exchangers(self, domain: str) -> Sequence[str]:
        answers = await self._asked(domain, dns.rdatatype.MX)
        found = sorted((int(one.preference), str(one.exchange).rstrip(".").lower()) for one in answers)
        return [host for _, host in found if host][:MAX_ANSWERS]

    async def services(self, name: str) -> Sequence[Target]:
        answers = await self._asked(name, dns.rdatatype.SRV)
        found = sorted((int(one.priority), -int(one.weight), str(one.target), int(one.port)) for one in answers)
        targets = [Target(host=host.rstrip(".").lower(), port=port) for _, _, host, port in found]
        return [one for one in targets if one.host][:MAX_ANSWERS]

    async def _asked(self, name: str, kind: dns.rdatatype.RdataType) -> Sequence[Any]:
        try:
            return list(await self.resolver().resolve(name, kind, lifetime=ANSWER_S, search=False))
        except (dns.exception.DNSException, OSError, ValueError):
            return []


async def by_services(names: Names, address: str) -> Found | None:
    """The servers from SRV records. TLS from the start is preferred to STARTTLS (RFC 8314, 3)."""
    domain = address.rpartition("@")[2]
    imap = await _first(names, domain, _IMAP)
    smtp = None if imap is None else await _first(names, domain, _SMTP)
    return None if imap is None or smtp is None else Found(imap=imap, smtp=smtp, username=address, source="srv")


async def _first(names: Names, domain: str, services: Sequence[tuple[str, Security]]) -> MailServer | None:
    for name, security in services:
        for target in await names.services(f"{name}.{domain}"):
            server = checked(MailServer(host=target.host, port=target.port, security=security))
            if server is not None:
                return server
    return None
