"""Decodes Gmail's answers into records.

Google sometimes cuts a text (a snippet, a name) inside a character. Its JSON then holds a lone surrogate, an escape
that is half a character. Such an answer is used, and only that character is replaced; a truncated answer is not used.
"""

from __future__ import annotations

import json
from typing import TypeVar

from svc.identity import decoded

T = TypeVar("T")


def record_of(body: bytes, kind: type[T]) -> T | None:
    """``body`` as ``kind``, lone surrogates replaced; ``None`` if it does not fit, as :func:`svc.identity.decoded`."""
    record = decoded(body, kind)
    return decoded(_mended(body), kind) if record is None and b"\\u" in body else record


def _mended(body: bytes) -> bytes:
    """The same JSON without lone surrogates; ``b""`` if ``body`` is not JSON."""
    try:
        return json.dumps(json.loads(body), ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return b""
