"""Begins and ends OAuth round trips in routes.

The state is in the database (:mod:`svc.identity.oauth_states`), the browser's key in a cookie that is sent only to the
routes of the trip.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from svc.clock import SECOND_MS
from svc.identity.oauth_states import STATE_LIFETIME_MS, OAuthState, begin_round_trip, end_round_trip
from svc.principal import Principal
from svc.protocol import Request, Response, cookie, redirect, set_cookie
from svc.workspace import RequestContext

COOKIE_LIFETIME_S: Final = STATE_LIFETIME_MS // SECOND_MS


@dataclass(frozen=True, kw_only=True)
class RoundTrips:
    """The trips of one purpose. ``cookie`` and ``path`` are those of the browser's key; purposes may share them."""

    purpose: str
    cookie: str = "svc_oauth"
    path: str = "/oauth/"

    def browser_key(self, request: Request) -> str | None:
        """The browser's key from an earlier trip. It stays after the trip: another tab may still need it."""
        return cookie(request.headers, self.cookie)

    async def begin(
        self,
        context: RequestContext,
        principal: Principal,
        *,
        browser_key: str | None,
        hint: str = "",
        payload: str = "",
    ) -> OAuthState:
        return await context.workspace.store.write(
            begin_round_trip, principal, purpose=self.purpose, hint=hint, browser_key=browser_key, payload=payload
        )

    def away(self, location: str, started: OAuthState, *, origin: str) -> Response:
        """Redirect to the provider, with the key in the browser's cookie. ``origin``: our own."""
        bind = set_cookie(
            self.cookie,
            started.browser_key,
            max_age_s=COOKIE_LIFETIME_S,
            secure=origin.startswith("https:"),
            path=self.path,
        )
        return redirect(location, headers=[bind])

    async def end(self, context: RequestContext, request: Request, principal: Principal) -> OAuthState | None:
        """End the trip in every case. ``None`` if this browser did not begin it."""
        return await context.workspace.store.write(
            end_round_trip,
            principal,
            purpose=self.purpose,
            state=request.query().get("state", ""),
            browser_key=self.browser_key(request),
        )


def from_elsewhere(request: Request, *, origin: str) -> Response | None:
    """A redirect to the canonical origin if the request came to another one: only there does the callback get the
    cookie that binds the state."""
    if request.headers.get("host") == origin.partition("://")[2]:
        return None
    return redirect(origin + request.target)
