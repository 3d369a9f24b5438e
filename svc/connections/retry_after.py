"""How long a provider asks us to stay away, read from ``Retry-After`` and capped."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from svc.clock import SECOND_MS, Millis
from svc.protocol.messages import Headers

RETRY_AFTER_MAX_S: Final = 15 * 60.0
"""The longest pause that a provider can impose: a mistake there must not silence an account for days."""


def retry_after_s(headers: Headers, *, now: Millis) -> float | None:
    """``Retry-After`` (RFC 9110, section 10.2.3) in seconds from ``now``, capped; ``None`` when unusable."""
    value = (headers.get("retry-after") or "").strip()
    if value.isascii() and value.isdigit():
        return capped_wait_s(float(value))
    moment = http_date(value)
    return None if moment is None else capped_wait_s((moment - now) / SECOND_MS)


def http_date(value: str) -> Millis | None:
    """Parses an HTTP date (RFC 9110, section 5.6.7), or a similar form; ``None`` for anything else."""
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * SECOND_MS)


def capped_wait_s(seconds: float) -> float:
    return min(max(0.0, seconds), RETRY_AFTER_MAX_S)
