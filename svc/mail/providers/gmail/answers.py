"""Gmail's answers as records.

Google cuts a text it shows (a snippet, a name) without looking where, and half a character then stands in its JSON:
an escape that stands for nothing. Such an answer is whole, and only that half is lost; one that was cut off is none.
"""

from __future__ import annotations

import json
from typing import TypeVar

from svc.identity import decoded

T = TypeVar("T")


def record_of(body: bytes, kind: type[T]) -> T | None:
    """``body`` as ``kind``, half characters replaced; ``None`` for anything else, as :func:`svc.identity.decoded`."""
    record = decoded(body, kind)
    return decoded(_mended(body), kind) if record is None and b"\\u" in body else record


def _mended(body: bytes) -> bytes:
    """The same JSON without half characters; ``b""`` where it is none."""
    try:
        return json.dumps(json.loads(body), ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return b""
