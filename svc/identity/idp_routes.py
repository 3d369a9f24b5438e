"""``GET /auth/idp/start`` and ``/auth/idp/callback``: a person signs in through the identity provider (spec 5.3).

What a person did wrong, or the provider would not vouch for, ends on the login page with its reason in words; a state
that is missing, stale, used or begun elsewhere is refused with 403.
"""

from __future__ import annotations

import secrets
from typing import Final
from urllib.parse import quote, urlencode

from svc.errors import NotConfigured, Refusal
from svc.identity.discovery import ProviderAway
from svc.identity.limiter import limited
from svc.identity.model import MAX_NAME_CHARS
from svc.identity.oauth_client_row import ClientCredentials, client_credentials
from svc.identity.oauth_states import ROUND_TRIP_REFUSED, OAuthState, begin_round_trip, end_round_trip
from svc.identity.oidc import OpenIdLogin, VerifiedIdentity, authorization_url
from svc.identity.oidc_admission import admit
from svc.identity.oidc_token import SignInRefused
from svc.identity.oidc_trip import HOME, MAX_INVITE_CHARS, Luggage, nonce_of, opened, safe_next, sealed
from svc.identity.routes import session_cookie
from svc.identity.service import SESSION_COOKIE, Identity
from svc.principal import system
from svc.protocol import Request, Response, Route, cookie, redirect, set_cookie
from svc.settings import canonical_origin, is_fake
from svc.workspace import Call

BROWSER_COOKIE: Final = "svc_login"
COOKIE_LIFETIME_S: Final = 600
START_PATH: Final = "/auth/idp/start"
CALLBACK_PATH: Final = "/auth/idp/callback"

_COOKIE_PATH: Final = "/auth/idp/"
_KEY_BYTES: Final = 32
_PURPOSE: Final = "login"
_VISITOR: Final = system("login")
"""Nobody is signed in yet; the round trip belongs to the browser alone."""


async def start(call: Call, request: Request) -> Response:
    """Send the browser to the provider's sign-in screen."""
    credentials = await _configured(call)
    origin = _origin(call)
    if request.headers.get("host") != origin.partition("://")[2]:
        # The cookie that binds the state has to be there at the callback, so the trip begins on the canonical origin.
        return redirect(origin + request.target)
    luggage = _luggage(request)
    try:
        provider = await call.workspace.service(OpenIdLogin).provider()
    except ProviderAway as away:
        call.workspace.log.warning("identity.provider_away", reason=away.detail)
        return _back_to_login(away.detail, luggage)
    browser_key = cookie(request.headers, BROWSER_COOKIE) or secrets.token_urlsafe(_KEY_BYTES)
    trip = await call.workspace.store.write(
        begin_round_trip,
        _VISITOR,
        purpose=_PURPOSE,
        hint="",
        browser_key=browser_key,
        payload=sealed(luggage, browser_key=browser_key),
    )
    location = authorization_url(
        provider,
        client_id=credentials.client_id,
        redirect_uri=origin + CALLBACK_PATH,
        state=trip.state,
        nonce=nonce_of(trip),
        code_challenge=trip.challenge,
    )
    bind = set_cookie(
        BROWSER_COOKIE, browser_key, max_age_s=COOKIE_LIFETIME_S, secure=_is_secure(call), path=_COOKIE_PATH
    )
    return redirect(location, headers=[bind])


async def callback(call: Call, request: Request) -> Response:
    """Take the code, learn who it is, and open a session for them if they may have one."""
    credentials = await _configured(call)
    query = request.query()
    trip = await call.workspace.store.write(
        end_round_trip,
        _VISITOR,
        purpose=_PURPOSE,
        state=query.get("state", ""),
        browser_key=cookie(request.headers, BROWSER_COOKIE),
    )
    if trip is None:
        raise ROUND_TRIP_REFUSED
    luggage = opened(trip)
    identity = call.workspace.service(Identity)
    try:
        who = await _identified(call, credentials, trip, query)
        signed_in = await identity.write(
            admit,
            who=who,
            invite=luggage.invite,
            claiming=identity.claiming(request),
            old_cookie=cookie(request.headers, SESSION_COOKIE),
            device_name=(request.headers.get("user-agent") or "Browser")[:MAX_NAME_CHARS],
        )
    except SignInRefused as refused:
        call.workspace.log.warning("identity.sign_in_refused", cause=refused.cause)
        return _back_to_login(refused.detail, luggage)
    except ProviderAway as away:
        call.workspace.log.warning("identity.provider_away", reason=away.detail)
        return _back_to_login(away.detail, luggage)
    except Refusal as refusal:
        return _back_to_login(refusal.detail, luggage)
    # The browser's key stays until it expires: another tab of this browser may be on a round trip of its own.
    return redirect(luggage.next, headers=[session_cookie(call, request, signed_in)])


async def _identified(
    call: Call, credentials: ClientCredentials, trip: OAuthState, query: dict[str, str]
) -> VerifiedIdentity:
    login = call.workspace.service(OpenIdLogin)
    provider = await login.provider()
    if "code" not in query:
        raise SignInRefused("no-consent", _refusal_of(query.get("error", "")))
    named = query.get("iss")
    if named != provider.issuer and (named is not None or provider.names_issuer_in_callback):  # RFC 9207
        raise SignInRefused("issuer", "Another sign-in service answered than the one that was asked. Sign in again.")
    return await login.sign_in(
        credentials=credentials,
        code=query["code"],
        code_verifier=trip.verifier,
        nonce=nonce_of(trip),
        redirect_uri=_origin(call) + CALLBACK_PATH,
    )


async def _configured(call: Call) -> ClientCredentials:
    """The OAuth client to speak with. 501 without one, and always under the fakes."""
    credentials = None if is_fake(call.workspace.config) else await client_credentials(call.workspace)
    if credentials is None:
        raise NotConfigured(
            "No identity provider is configured. Set IDP_CLIENT_ID and IDP_CLIENT_SECRET and start the service again."
        )
    return credentials


def _luggage(request: Request) -> Luggage:
    query = request.query()
    return Luggage(
        invite=query.get("invite", "")[:MAX_INVITE_CHARS] or None,
        next=safe_next(query.get("next", HOME)),
    )


def _back_to_login(reason: str, luggage: Luggage) -> Response:
    """The login page says why, and keeps what a second try needs."""
    query = {"error": reason}
    if luggage.next != HOME:
        query["next"] = luggage.next
    if luggage.invite is not None:
        query["invite"] = luggage.invite
    return redirect("/login?" + urlencode(query, quote_via=quote))


def _refusal_of(error: str) -> str:
    if error == "access_denied":
        return "You did not allow the sign-in, so you are not signed in. Try again when you want to."
    return "The sign-in service ended the sign-in. Try again; if that does not help, tell the owner of this server."


def _origin(call: Call) -> str:
    return canonical_origin(call.workspace.config, port=call.workspace.port)


def _is_secure(call: Call) -> bool:
    """Of the origin that the callback comes to: the trip ends there, however it was begun."""
    return _origin(call).startswith("https:")


ROUTES: tuple[Route[Call], ...] = (
    Route(
        method="GET",
        path=START_PATH,
        access="public",
        handle=limited(start),
        summary="Begin to sign in: redirect to the identity provider.",
    ),
    Route(
        method="GET",
        path=CALLBACK_PATH,
        access="public",
        handle=limited(callback),
        summary="The identity provider sends the browser back here.",
    ),
)
