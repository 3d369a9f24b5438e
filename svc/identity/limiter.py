"""Rate limiting by client: an exact sliding window, in bounded memory.

A client is the socket's peer (its /64 for IPv6), or the address that the trusted proxy gives. Only admitted requests
count. When the table is full, the client that was not seen for the longest time is dropped; no request is admitted
because of lack of room.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Final

from svc.errors import Forbidden
from svc.protocol import Forwarded, Request, Response
from svc.window import Windows

if TYPE_CHECKING:
    from svc.workspace import RequestContext

WINDOW_S: Final = 300.0
MAX_CLIENTS: Final = 65_536
"""Clients whose requests to sign in and to pair are counted. Beyond: the one seen longest ago is no longer
counted."""
_IPV6_PREFIX_BITS: Final = 64

REAL_IP_HEADER: Final = "x-real-ip"
NOBODY: Final = Forwarded()

Handler = Callable[["RequestContext", Request], Awaitable[Response]]


class RateLimiter:
    """At most ``limit`` requests of one client in any :data:`WINDOW_S` seconds."""

    def __init__(self, *, limit: int, forwarded: Forwarded = NOBODY, max_clients: int = MAX_CLIENTS) -> None:
        self._forwarded = forwarded
        self.windows = Windows(limit=limit, window_s=WINDOW_S, max_keys=max_clients)

    def check(self, request: Request, *, apart: str = "") -> None:
        """Count this request, or raise 429 with ``Retry-After``. ``apart`` names a separate count."""
        self.windows.admit(f"{apart}{self._client(request)}", refusal="Too many tries. Wait a little.")

    def address_of(self, request: Request) -> str:
        """The client's address: the peer, or the one that a trusted proxy gives."""
        return (self._forwarded.said(request, REAL_IP_HEADER) or request.peer).strip()

    def _client(self, request: Request) -> str:
        try:
            address = ip_address(self.address_of(request))
        except ValueError:
            return request.peer
        if isinstance(address, IPv6Address):
            if address.ipv4_mapped is not None:
                return str(address.ipv4_mapped)
            return f"{int(address) >> (128 - _IPV6_PREFIX_BITS):x}/64"
        return str(address)


def limited(handle: Handler, *, apart: str = "") -> Handler:
    """The same route function behind the limiter of the instance.

    A route that pages of other sites may call counts ``apart``: else such a page could lock its visitor out of signing
    in. For the same reason, a request that another site embeds (an image, a frame) is refused without counting.
    """

    async def handle_within_limit(context: RequestContext, request: Request) -> Response:
        from svc.identity.service import Identity  # late: that module imports the routes that are wrapped here

        if not apart and _is_embedded_elsewhere(request):
            raise Forbidden("This request comes from another site.")
        context.workspace.service(Identity).limiter.check(request, apart=apart)
        return await handle(context, request)

    return handle_within_limit


def _is_embedded_elsewhere(request: Request) -> bool:
    """Whether another site embeds this request. Only a visible page load may come from another site: the redirect back
    from an identity provider."""
    site, destination = request.headers.get("sec-fetch-site"), request.headers.get("sec-fetch-dest")
    return site in {"cross-site", "same-site"} and destination not in {None, "document"}
