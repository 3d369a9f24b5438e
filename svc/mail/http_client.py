"""What mail wants of an HTTP client: one call, typed, so that a test can script the other side.

Owns the protocol, the reading of ``Retry-After``, and the one way JSON from outside becomes a record. The client
itself is :mod:`svc.protocol.egress`. It knows no provider and no token.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final, Protocol, TypeVar

import msgspec

from svc.clock import SECOND_MS, Millis
from svc.protocol.egress import EgressResponse
from svc.protocol.messages import Headers

RETRY_AFTER_MAX_S: Final = 15 * 60.0
"""The longest we let a provider tell us to stay away: a mistake there must not silence an account for days."""

T = TypeVar("T")


class HttpClient(Protocol):
    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        deadline_s: float,
        limit_bytes: int,
    ) -> EgressResponse:
        """Raises :class:`svc.protocol.egress.EgressFault`; never follows a redirect."""
        ...


def decoded(body: bytes, kind: type[T]) -> T | None:
    """``body`` as ``kind``; ``None`` for anything else: not JSON, cut off, a field missing or of another type."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def retry_after_s(headers: Headers, *, now: Millis) -> float | None:
    """``Retry-After`` (RFC 9110, section 10.2.3) in seconds from ``now``, capped; ``None`` when unusable."""
    value = (headers.get("retry-after") or "").strip()
    if value.isascii() and value.isdigit():
        return capped_wait_s(float(value))
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return capped_wait_s(moment.timestamp() - now / SECOND_MS)


def capped_wait_s(seconds: float) -> float:
    return min(max(0.0, seconds), RETRY_AFTER_MAX_S)
