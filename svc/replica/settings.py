"""The settings of the replica: its address and its token."""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from svc.config import BadValue, Setting, http_url, text

_NEAR_NAMES: Final = (".local", ".lan", ".internal", ".home.arpa")


def _replica_url(value: str) -> str:
    """https, or http within a private network: a second machine at home has no certificate."""
    if value.startswith("http://"):
        http_url("https" + value.removeprefix("http"))  # checks the other rules
        if _is_near(urlsplit(value).hostname or ""):
            return value.rstrip("/")
    try:
        return http_url(value)
    except BadValue as fault:
        if "unencrypted" not in str(fault):
            raise
        raise BadValue(
            f"{value!r} would carry the token and your content unencrypted over the internet; use https, or http with "
            "an address of your own network"
        ) from None


def _is_near(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(_NEAR_NAMES))
    return address.is_private or address.is_loopback or address in ipaddress.ip_network("100.64.0.0/10")


REPLICA_URL: Final[Setting[str | None]] = Setting(
    name="SVC_BLOB_REPLICA_URL",
    parse=_replica_url,
    default=None,
    type="URL",
    help="Where every blob is copied to, as `ab/cd/<sha256>` below it. `svc replica serve` is such a place.",
)
REPLICA_TOKEN: Final[Setting[str | None]] = Setting(
    name="SVC_BLOB_REPLICA_TOKEN",
    parse=text,
    default=None,
    type="text",
    secret=True,
    help="Sent to SVC_BLOB_REPLICA_URL as `Authorization: Bearer`.",
)

SETTINGS: Final = (REPLICA_URL, REPLICA_TOKEN)
