"""OAuth round trips as routes begin and end them.

The state lies in the database (:mod:`svc.identity.oauth_states`), the browser's key in a cookie that goes to the routes
of the trip alone.
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
    """The trips of one purpose. ``cookie`` and ``path``: of the browser's key; purposes may share them."""

    purpose: str
    cookie: str = "svc_oauth"
    path: str = "/oauth/"

    def browser_key(self, request: Request) -> str | None:
        """What the browser has from an earlier trip. It stays after the trip: another tab may be on one, too."""
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
        """To the provider, with the key in the browser's cookie. ``origin``: our own."""
        bind = set_cookie(
            self.cookie,
            started.browser_key,
            max_age_s=COOKIE_LIFETIME_S,
            secure=origin.startswith("https:"),
            path=self.path,
        )
        return redirect(location, headers=[bind])

    async def end(self, context: RequestContext, request: Request, principal: Principal) -> OAuthState | None:
        """``None``: no such trip was begun by this browser. It is over in every case."""
        return await context.workspace.store.write(
            end_round_trip,
            principal,
            purpose=self.purpose,
            state=request.query().get("state", ""),
            browser_key=self.browser_key(request),
        )


def from_elsewhere(request: Request, *, origin: str) -> Response | None:
    """The cookie that binds the state has to be there at the callback, so a trip begins on the canonical origin."""
    if request.headers.get("host") == origin.partition("://")[2]:
        return None
    return redirect(origin + request.target)
