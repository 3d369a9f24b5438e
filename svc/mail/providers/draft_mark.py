"""The mark of a draft that was written here. It tells our copies from the other drafts at a provider."""

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
    """Our mark and the ``Date`` of the draft, as one text. Another program that changes a draft may keep our mark, but
    it writes a new date, so its version has another text."""
    marked, dated = _MARK.search(header), _WRITTEN.search(header)
    mark = None if marked is None else identifier(marked[1])
    at = None if dated is None else parse_date(dated[1].decode("latin-1"))
    return None if mark is None or at is None else f"{mark} {at}"


def mark_in(copy: str) -> str:
    """Our mark without the date, from a result of :func:`draft_mark`."""
    return copy.rpartition(" ")[0]


def identifier(value: bytes) -> str | None:
    """The value of a header field without angle brackets, decoded as Latin-1."""
    between = _BETWEEN.search(value)
    text = between[1] if between else b" ".join(value.split())
    return text.decode("latin-1") or None
