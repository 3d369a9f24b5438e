"""An answer's head as bytes (RFC 9112, 6), assembled directly: one string, encoded once.

Owns the framing of answers. A header value with a line break is a bug in the code that wrote it, and is never sent.
"""

from __future__ import annotations

from functools import lru_cache
from http import HTTPStatus
from typing import Final

from svc.protocol.messages import Response

BODILESS: Final = frozenset({204, 304})
"""Statuses of answers that have no body and announce none."""

_REASONS: Final = {status.value: status.phrase for status in HTTPStatus}


def encode_head(response: Response, *, is_http11: bool, keep: bool) -> tuple[bytes, bool]:
    """The head of an answer as bytes, and whether its body has to be chunked.

    Raises ``ValueError`` when a header contains a line break.
    """
    fields, common = response.headers, response.common
    front = _front if common else _front.__wrapped__  # values of a single answer, such as a cookie, are not cached
    start = front(response.status, tuple(fields[:common]))
    lines = [f"{name}: {value}" for name, value in fields[common:]]
    chunked = False
    length = len(response.body) if isinstance(response.body, bytes) else response.content_length
    if response.status in BODILESS:
        pass
    elif length is not None:
        lines.append(f"content-length: {length}")
    elif is_http11:
        chunked = True
        lines.append("transfer-encoding: chunked")
    if not keep:
        lines.append("connection: close")
    return start + _joined(lines) + b"\r\n", chunked


@lru_cache(maxsize=256)
def _front(status: int, fields: tuple[tuple[str, str], ...]) -> bytes:
    """The status line and the first fields."""
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, '')}", *(f"{name}: {value}" for name, value in fields)]
    return _joined(lines)


def _joined(lines: list[str]) -> bytes:
    """The lines, each with its line end. Raises ``ValueError`` if a line contains a line end."""
    text = "\r\n".join(lines)
    ends = max(0, len(lines) - 1)
    if text.count("\n") != ends or text.count("\r") != ends or "\0" in text:
        raise ValueError("a response header holds a line break")
    return text.encode("latin-1") + b"\r\n" if lines else b""


async def close_body(body: object) -> None:
    """Close an iterator that holds a file or a subscription, because nobody reads the rest."""
    close = getattr(body, "aclose", None)
    if close is not None:
        await close()
