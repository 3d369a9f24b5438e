"""The record of a mail server: its name and port, and how TLS begins."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, Literal

import msgspec

from svc.errors import Invalid
from svc.formats.writing import ascii_domain

Security = Literal["tls", "starttls"]

MAX_HOST_CHARS: Final = 253
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_PIN: Final = re.compile(r"[0-9a-f]{64}")


class MailServer(msgspec.Struct, frozen=True, kw_only=True):
    """``pin``: the SHA-256 of the only certificate that is accepted, instead of those that the system trusts."""

    host: str
    port: int
    security: Security
    pin: str | None = None

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The certificate that a server showed. ``not_after``: an RFC 3339 date."""

    sha256: str
    subject: str
    issuer: str
    not_after: str


def checked(server: MailServer) -> MailServer | None:
    """The server in standard form: an ASCII host name or an IP address, and a valid port; ``None`` if it is invalid."""
    host = _host(server.host.strip().rstrip("."))
    pin = None if server.pin is None else server.pin.replace(":", "").strip().lower()
    if host is None or not 0 < server.port < 65_536 or (pin is not None and not _PIN.fullmatch(pin)):
        return None
    return MailServer(host=host, port=server.port, security=server.security, pin=pin)


def _host(text: str) -> str | None:
    try:
        return str(ip_address(text))
    except ValueError:
        pass
    try:
        host = text.lower() if text.isascii() else ascii_domain(text, address=text)
    except Invalid:
        return None
    labels = host.split(".")
    if len(host) > MAX_HOST_CHARS or not all(map(_LABEL.fullmatch, labels)) or labels[-1].isdigit():
        return None
    return host
