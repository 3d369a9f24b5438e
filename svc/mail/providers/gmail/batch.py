"""Many requests in one, for Google's batch endpoint: ``multipart/mixed`` of HTTP requests, and of answers.

Pure. The ``Content-ID`` of each request is its index, and an answer counts only if exactly one part names that index.
Other parts are ignored, and the caller repeats each request without an answer alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from svc.protocol.egress import EgressResponse
from svc.protocol.messages import Headers

BOUNDARY: Final = "svc-batch"
CONTENT_TYPE: Final = f"multipart/mixed; boundary={BOUNDARY}"

_BOUNDARY_PARAMETER: Final = re.compile(
    r"""(?i)^\s*multipart/mixed\s*;.*?\bboundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))"""
)
_PLACE: Final = re.compile(rb"(?im)^content-id:[ \t]*<?response-item-(\d{1,4})>?[ \t]*\r?$")
_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")
_STATUS: Final = re.compile(rb"HTTP/\d(?:\.\d)? (\d{3})(?: [^\r\n]*)?(?:\r?\n|$)")


def request_body(targets: Sequence[str]) -> bytes:
    """A batch with a ``GET`` for each target (path and query). A target must not hold a line end."""
    parts = (
        f"--{BOUNDARY}\r\ncontent-type: application/http\r\ncontent-id: <item-{place}>\r\n\r\n"
        f"GET {target} HTTP/1.1\r\naccept: application/json\r\n\r\n\r\n"
        for place, target in enumerate(targets)
    )
    return "".join((*parts, f"--{BOUNDARY}--\r\n")).encode("ascii")


def answers_of(answer: EgressResponse, *, requests: int) -> dict[int, EgressResponse]:
    """The answers by the index of their request. ``requests``: how many were made. Never raises."""
    found = _BOUNDARY_PARAMETER.match(answer.headers.get("content-type") or "")
    if found is None:
        return {}
    answers: dict[int, EgressResponse] = {}
    twice: set[int] = set()
    for part in _parts(answer.body, (found[1] or found[2]).encode("ascii", "replace")):
        parsed = _parsed(part)
        if parsed is None or parsed[0] >= requests:
            continue
        place, one = parsed
        if place in answers:
            twice.add(place)
        answers[place] = one
    return {place: one for place, one in answers.items() if place not in twice}


def _parts(body: bytes, boundary: bytes) -> Iterator[bytes]:
    """What follows each delimiter line. The pattern begins with fixed text, because one that begins with a line end is
    tried at every byte of the mails: that took a sixth of the whole time of a first sync."""
    start: int | None = None
    for found in re.finditer(rb"--" + re.escape(boundary) + rb"(?:--)?[ \t]*(?=\r?\n|\Z)", body):
        if found.start() == 0 or body[found.start() - 1 : found.start()] == b"\n":
            if start is not None:
                yield body[start : found.start()].removesuffix(b"\n").removesuffix(b"\r")
            start = found.end()
    if start is not None:
        yield body[start:]


def _parsed(part: bytes) -> tuple[int, EgressResponse] | None:
    """One part: its own headers, then the status line, headers and body of an answer."""
    split = _split(part.lstrip(b"\r\n"))
    place = _PLACE.search(split[0]) if split else None
    if split is None or place is None:
        return None
    status = _STATUS.match(split[1])
    inner = _split(split[1][status.end() :]) if status else None
    if status is None or inner is None:
        return None
    headers = _headers(inner[0])
    body = inner[1]
    length = headers.get("content-length")
    if length is not None:
        if not length.isdecimal() or len(length) > 12 or int(length) > len(body):
            return None  # it was cut off
        body = body[: int(length)]
    return int(place[1]), EgressResponse(status=int(status[1]), headers=headers, body=body)


def _split(text: bytes) -> tuple[bytes, bytes] | None:
    """Splits at the first blank line; ``None`` if there is none."""
    blank = _BLANK_LINE.search(text)
    return None if blank is None else (text[: blank.start()], text[blank.end() :])


def _headers(block: bytes) -> Headers:
    lines = (line.partition(":") for line in block.decode("latin-1").splitlines())
    return Headers((name.strip().lower(), value.strip()) for name, colon, value in lines if colon)
