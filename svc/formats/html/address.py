"""Addresses in strangers' HTML, parsed as a browser would (WHATWG URL) and written back without ambiguity.

Owns which schemes may be followed and what counts as remote. It never resolves a relative address: in the frame its
base would be the workspace itself, so a stranger's relative link would lead into the workspace.
"""

from __future__ import annotations

import re
from typing import Final

MAX_ADDRESS_CHARS: Final = 8_192

_REMOVED: Final = re.compile("[\t\n\r]")
_C0_AND_SPACE: Final = "".join(map(chr, range(0x21)))
_REFUSED: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_WEB: Final = re.compile(r"(?:(https?):[/\\]*|[/\\]{2,})(?=[^/\\?#])", re.IGNORECASE)
_AUTHORITY: Final = re.compile(r"[^/\\?#]*")
_MAILTO: Final = re.compile("mailto:", re.IGNORECASE)


def link_address(href: str) -> str | None:
    """An absolute ``http``, ``https`` or ``mailto`` address, or ``None`` if the link may not be followed."""
    address = _normal(href)
    if address is None:
        return None
    mail = _MAILTO.match(address)
    if mail:
        return "mailto:" + address[mail.end() :]
    return _web_address(address)


def image_address(src: str) -> str | None:
    """The absolute ``http`` or ``https`` address of a remote image; ``None`` for every other kind."""
    address = _normal(src)
    return None if address is None else _web_address(address)


def _normal(raw: str) -> str | None:
    if len(raw) > MAX_ADDRESS_CHARS:
        return None
    address = _REMOVED.sub("", raw.strip(_C0_AND_SPACE))
    return None if _REFUSED.search(address) else address.replace(" ", "%20")


def _web_address(address: str) -> str | None:
    """``https://host/…``, for any spelling of the slashes. A user name before the host can only deceive, so it is
    refused."""
    start = _WEB.match(address)
    if start is None:
        return None
    rest = address[start.end() :]
    authority = _AUTHORITY.match(rest)
    if authority is None or "@" in authority[0]:
        return None
    return f"{(start[1] or 'https').lower()}://{rest}"
