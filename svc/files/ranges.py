"""One byte range of RFC 9110, section 14. A request for several ranges gets the whole content, which the RFC allows."""

from __future__ import annotations

import re
from typing import Final

from svc.errors import Refusal
from svc.protocol import Request

_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def requested_range(request: Request, *, size: int, etag: str) -> tuple[int, int] | None:
    """``(start, stop)`` with ``stop`` exclusive, or ``None`` for the whole. Raises 416 if the range is outside the
    content."""
    header = request.headers.get("range")
    if header is None or not _still_the_same(request, etag):
        return None
    match = _RANGE.fullmatch(header.strip().lower())
    if match is None or match.group(1, 2) == ("", ""):
        return None
    first, last = match.group(1, 2)
    if first:
        start, stop = int(first), min(int(last) + 1, size) if last else size
    else:
        start, stop = max(0, size - int(last)), size
    if last and first and int(last) < int(first):
        return None
    if start >= stop:
        raise Refusal(
            "No byte of that range is there.",
            code="range_not_satisfiable",
            headers={"Content-Range": f"bytes */{size}"},
        )
    return start, stop


def _still_the_same(request: Request, etag: str) -> bool:
    """``If-Range``: a part is wanted only if the content is still the same."""
    condition = request.headers.get("if-range")
    return condition is None or condition.strip() == etag
