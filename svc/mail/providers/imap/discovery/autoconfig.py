"""Reads what a domain says about its mail servers in Thunderbird's format (``config-v1.1.xml``), without trusting it.

It only names servers; their certificates must prove who they are. Only TLS connections count, and only servers that
accept a password, or servers of a known provider with its own sign-in.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Final
from urllib.parse import quote

from svc.mail.providers.imap.discovery import presets
from svc.mail.providers.imap.discovery.model import Found
from svc.mail.providers.imap.servers import MailServer, Security, checked

MAX_BYTES: Final = 128 * 1024
_SECURITIES: Final[dict[str, Security]] = {"SSL": "tls", "STARTTLS": "starttls"}
_BY_PASSWORD: Final = "password-cleartext"  # noqa: S105  a word of the format: the password itself, over TLS


def addresses_of(address: str) -> tuple[str, ...]:
    """The URLs where a domain may publish the document, the usual one first."""
    domain = address.rpartition("@")[2]
    asked = quote(address, safe="@")
    return (
        f"https://autoconfig.{domain}/mail/config-v1.1.xml?emailaddress={asked}",
        f"https://{domain}/.well-known/autoconfig/mail/config-v1.1.xml",
    )


def read(document: bytes, address: str) -> Found | None:
    """The servers in a document; ``None`` if it is invalid, or if it names no suitable servers."""
    if len(document) > MAX_BYTES or b"<!" in document.replace(b"<!--", b""):
        return None  # the format has no entities and no document type
    try:
        root = ElementTree.fromstring(document)  # noqa: S314  entities were refused above
    except (ElementTree.ParseError, ValueError, LookupError):
        return None
    incoming = _first(root, "incomingServer", "imap", address)
    outgoing = _first(root, "outgoingServer", "smtp", address)
    if incoming is None or outgoing is None:
        return None
    return Found(imap=incoming[0], smtp=outgoing[0], username=incoming[1], source="autoconfig")


def _first(root: ElementTree.Element, tag: str, kind: str, address: str) -> tuple[MailServer, str] | None:
    for element in root.iter(tag):
        if element.get("type") != kind:
            continue
        ways = [(one.text or "").strip() for one in element.findall("authentication")]
        security = _SECURITIES.get(_text(element, "socketType").upper())
        port = _text(element, "port")
        if security is None or not port.isdecimal() or len(port) > 5:
            continue
        host = _filled(_text(element, "hostname"), address)
        if ways and _BY_PASSWORD not in ways and presets.by_server(host) is None:
            continue
        server = checked(MailServer(host=host, port=int(port), security=security))
        if server is not None:
            return server, _filled(_text(element, "username"), address) or address
    return None


def _filled(text: str, address: str) -> str:
    local, _, domain = address.rpartition("@")
    for name, value in (("ADDRESS", address), ("LOCALPART", local), ("DOMAIN", domain)):
        text = text.replace(f"%EMAIL{name}%", value)
    return text


def _text(element: ElementTree.Element, tag: str) -> str:
    return (element.findtext(tag) or "").strip()
