"""Reads the fields of a mail's header that are about its origin, before any request to the network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from svc.formats.authentication.model import MAX_SIGNATURES, Unsubscribe
from svc.formats.authentication.results import Field, read_field
from svc.formats.mime.model import Problems
from svc.formats.mime.parts import header_only

MAX_FIELDS: Final = 20
MAX_UNSUBSCRIBE_CHARS: Final = 8_192
MAX_WAYS: Final = 10

_TAG: Final = re.compile(rb"[; \t\r\n]*([a-z]{1,10})[ \t\r\n]*=[ \t\r\n]*([A-Za-z0-9._-]{1,253})[ \t\r\n]*\Z")
_ANGLED: Final = re.compile(r"<([^<>]*)>")
_ONE_CLICK: Final = "list-unsubscribe=one-click"


@dataclass(frozen=True, kw_only=True)
class Head:
    """``results``: the ``Authentication-Results`` fields, from the top. ``is_topmost``: the first of them is above
    every ``Received``, so it was not written before the mail reached the last server. ``keys``: the DNS names of the
    keys of its signatures. ``froms``: the number of From fields."""

    results: tuple[Field, ...]
    is_topmost: bool
    keys: tuple[str, ...]
    froms: int
    unsubscribe: Unsubscribe | None


def read_head(raw: bytes) -> Head:
    """Accepts any bytes."""
    fields = header_only(raw, problems=Problems()).fields
    names = list(fields.values)
    stands_above = "received" in names and "authentication-results" in names
    return Head(
        results=tuple(filter(None, map(read_field, fields.all("authentication-results")[:MAX_FIELDS]))),
        is_topmost=stands_above and names.index("authentication-results") < names.index("received"),
        keys=tuple(dict.fromkeys(_keys(fields.all("dkim-signature")[:MAX_SIGNATURES]))),
        froms=len(fields.all("from")),
        unsubscribe=_unsubscribe(fields.all("list-unsubscribe"), fields.all("list-unsubscribe-post")),
    )


def _keys(values: Sequence[bytes]) -> Iterator[str]:
    for value in values:
        tags: dict[bytes, bytes] = {found[1]: found[2] for one in value.split(b";") if (found := _TAG.match(one))}
        if b"d" in tags and b"s" in tags:
            yield f"{tags[b's'].decode()}._domainkey.{tags[b'd'].decode()}".lower()


def _unsubscribe(values: Sequence[bytes], posts: Sequence[bytes]) -> Unsubscribe | None:
    text = b",".join(values)[:MAX_UNSUBSCRIBE_CHARS].decode("utf-8", "replace")
    ways = ["".join(found.split()) for found in _ANGLED.findall(text)[:MAX_WAYS]]

    def first(scheme: str) -> str | None:
        return next((way for way in ways if way.lower().startswith(scheme)), None)

    found = Unsubscribe(
        https=first("https://"),
        mailto=first("mailto:"),
        http=first("http://"),
        one_click=len(values) == len(posts) == 1 and posts[0].strip().lower() == _ONE_CLICK.encode(),
    )
    return found if found.https or found.mailto or found.http else None
