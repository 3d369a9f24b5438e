"""What a caller of outside services wants of an HTTP client: one call, typed, so that a test can script the other side.

Owns the protocol and the one way JSON from outside becomes a record. The client itself is :mod:`svc.protocol.egress`.
It knows no provider and no token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

import msgspec

from svc.protocol.egress import EgressResponse

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
