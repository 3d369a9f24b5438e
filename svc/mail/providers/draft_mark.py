"""By which a draft that was written here is known among those that lie at a provider."""

from __future__ import annotations

import re
from typing import Final

from svc.formats.mime.dates import parse_date

MARK_FIELD: Final = "X-Svc-Outgoing"
MAX_HEAD_BYTES: Final = 512 * 1024
_REST: Final = rb":\s*([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)"
_MARK: Final = re.compile(rb"^x-svc-outgoing" + _REST, re.IGNORECASE | re.MULTILINE)
_WRITTEN: Final = re.compile(rb"^date" + _REST, re.IGNORECASE | re.MULTILINE)
_BETWEEN: Final = re.compile(rb"<\s*([^<>\s]+)\s*>")


def draft_mark(header: bytes) -> str | None:
    """Our mark, and the second when it was written. Programs that change a draft may leave the mark in it; its date
    they write anew."""
    marked, dated = _MARK.search(header), _WRITTEN.search(header)
    mark = None if marked is None else identifier(marked[1])
    at = None if dated is None else parse_date(dated[1].decode("latin-1"))
    return None if mark is None or at is None else f"{mark} {at}"


def mark_in(copy: str) -> str:
    """Our mark alone, of what :func:`draft_mark` found."""
    return copy.rpartition(" ")[0]


def identifier(value: bytes) -> str | None:
    """What a field holds: without its brackets, as bytes seen as Latin-1."""
    between = _BETWEEN.search(value)
    text = between[1] if between else b" ".join(value.split())
    return text.decode("latin-1") or None
