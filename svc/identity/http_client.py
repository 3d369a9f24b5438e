"""The interface of an HTTP client for calls to outside services: one typed method, so that a test can script the other
side.

Owns the protocol and the one way to decode JSON from outside into a record. The client itself is
:mod:`svc.protocol.egress`. It knows no provider and no token.
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
    """``body`` decoded as ``kind``; ``None`` if it is not JSON, is cut off, or has a field missing or of
    another type."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
