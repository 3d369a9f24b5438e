"""Serves the connections beyond the limit: the liveness probe is answered, all other requests get 503 and retry later.

A few connections more than the limit are read, briefly, so that a process supervisor does not take the process for dead
and kill it. Connections beyond those are answered without reading their request, and hold nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, TypeVar

from svc.doors import RETRY_AFTER_S
from svc.errors import Refusal
from svc.protocol import DEFAULT_LIMITS, Application, Request, Response, is_rpc

C = TypeVar("C")

RESERVED_CONNECTIONS: Final = 32
"""Connections beyond those to the public port: `/livez` is answered, all else 503 `unavailable`. Beyond: 503
`unavailable` with `Retry-After`, without a look at what is asked for."""
LIMITS: Final = replace(DEFAULT_LIMITS, head_s=1.0, idle_s=1.0, requests_per_connection=1, linger_s=1.0)
"""A reserved connection serves one short request, or is closed."""

_LIVE: Final = "/livez"


class Overloaded(Application[C]):
    """The application of a reserved connection."""

    async def __call__(self, request: Request) -> Response:
        if request.raw_path == _LIVE:
            return await super().__call__(request)
        return self._turned_away(request)

    async def upgrade(self, request: Request, *, front_shook_hands: bool = False) -> Response:
        return self._turned_away(request)

    def _turned_away(self, request: Request) -> Response:
        refusal = Refusal(
            "Too many connections. Try again in a moment.",
            code="unavailable",
            headers={"retry-after": str(RETRY_AFTER_S)},
        )
        return self.fault(refusal, peer=request.peer, secure=request.secure, for_rpc=is_rpc(request))
