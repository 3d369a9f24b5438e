"""The addresses of Microsoft's mail servers. National clouds have other addresses than the defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from svc.config import BadValue, Config, Setting
from svc.mail.providers.imap.discovery import presets
from svc.mail.providers.imap.servers import MailServer, Security, checked


def _server(security: Security) -> Callable[[str], MailServer]:
    def parse(value: str) -> MailServer:
        host, _, port = value.rpartition(":")
        if port.isdecimal() and len(port) <= 5:
            found = checked(MailServer(host=host.strip("[]"), port=int(port), security=security))
            if found is not None:
                return found
        raise BadValue(f"{value!r} is no server; write it as host:port")

    return parse


IMAP: Final[Setting[MailServer]] = Setting(
    name="SVC_MICROSOFT_IMAP",
    parse=_server("tls"),
    default=presets.MICROSOFT_365.imap,
    type="host:port",
    help="Microsoft's IMAP server, with TLS from the beginning.",
)
SMTP: Final[Setting[MailServer | None]] = Setting(
    name="SVC_MICROSOFT_SMTP",
    parse=_server("starttls"),
    default=None,
    shown_default=f"{presets.OUTLOOK_COM.smtp} for addresses there, else {presets.MICROSOFT_365.smtp}",
    type="host:port",
    help="Microsoft's submission server, with STARTTLS.",
)
SETTINGS: Final = (IMAP, SMTP)


def imap_server(config: Config) -> MailServer:
    return config[IMAP]


def smtp_server(config: Config, address: str) -> MailServer:
    is_personal = presets.by_domain(address.rpartition("@")[2]) is presets.OUTLOOK_COM
    return config[SMTP] or (presets.OUTLOOK_COM if is_personal else presets.MICROSOFT_365).smtp
