"""Chooses the way to unsubscribe, by the mail's headers and its verified signatures. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from svc.errors import Invalid
from svc.formats.authentication import Authentication, covers
from svc.formats.text import clean_line, cut
from svc.formats.writing import sendable_address

Method = Literal["one-click", "mailto", "link"]

COVERED: Final = frozenset({"list-unsubscribe", "list-unsubscribe-post"})
"""The header fields that the signature must cover (RFC 8058, 4)."""
MAX_FIELDS: Final = 20
MAX_SUBJECT_CHARS: Final = 200
MAX_BODY_CHARS: Final = 2_000
_PLAIN_HOST: Final = re.compile(r"[a-z0-9.-]{1,253}")


@dataclass(frozen=True, kw_only=True)
class Offer:
    """``target``: the host or address that gets the request, to be shown before. ``url``: of a request or a link."""

    method: Method
    target: str
    url: str | None = None
    subject: str = ""
    body: str = ""


def offer_of(found: Authentication, *, domain: str) -> Offer | None:
    """The first possible way of: a request that a signature covers, a mail, a page for the person to open. ``domain``:
    of the sender."""
    ways = found.unsubscribe
    if ways is None:
        return None
    host = _host(ways.https)
    if ways.one_click and ways.https and host and covers(found.signatures, domain=domain, fields=COVERED):
        return Offer(method="one-click", target=host, url=ways.https)
    mail = _mail(ways.mailto)
    if mail is not None:
        return mail
    for url in (ways.https, ways.http):
        if url and (host := _host(url)):
            return Offer(method="link", target=host, url=url)
    return None


def _mail(url: str | None) -> Offer | None:
    """The offer of a ``mailto:`` address. The mail goes to that one address; other recipients in it are ignored."""
    if url is None:
        return None
    path, _, query = url[len("mailto:") :].partition("?")
    try:
        address = sendable_address(unquote(path))
        fields = parse_qsl(query.replace("+", "%2B"), max_num_fields=MAX_FIELDS)
    except (Invalid, ValueError):
        return None
    asked = {name.lower(): value for name, value in reversed(fields)}
    return Offer(
        method="mailto",
        target=address,
        subject=cut(clean_line(asked.get("subject", "")), limit=MAX_SUBJECT_CHARS) or "unsubscribe",
        body=cut(clean_line(asked.get("body", "")), limit=MAX_BODY_CHARS) or "unsubscribe",
    )


def _host(url: str | None) -> str | None:
    if url is None:
        return None
    try:
        host = (urlsplit(url).hostname or "").encode("idna").decode("ascii").lower()
    except (UnicodeError, ValueError):
        return None
    return host if _PLAIN_HOST.fullmatch(host) else None
