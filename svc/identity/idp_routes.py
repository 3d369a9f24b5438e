"""``GET /auth/idp/start`` and ``/auth/idp/callback``: a person signs in through the identity provider (spec 5.3).

An error of the person, or a refusal of the provider, ends on the login page with a reason code in its address. The page
has the text for each code (``static/identity/reasons.js``): a text in the address itself could be made up by anybody. A
state that is missing, stale, used or from another browser is refused with 403.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode

from svc.errors import NotConfigured, Refusal
from svc.identity.actions import NOT_ADMITTED
from svc.identity.discovery import ProviderAway
from svc.identity.limiter import limited
from svc.identity.model import MAX_NAME_CHARS
from svc.identity.oauth_client_row import ClientCredentials
from svc.identity.oauth_states import ROUND_TRIP_REFUSED, OAuthState
from svc.identity.oidc import OpenIdLogin, VerifiedIdentity, authorization_url
from svc.identity.oidc_admission import OTHER_PROVIDER, UNVERIFIED, admit
from svc.identity.oidc_refusal import SignInRefused
from svc.identity.oidc_trip import HOME, MAX_INVITE_CHARS, CarriedData, nonce_of, opened, safe_next, sealed
from svc.identity.round_trips import RoundTrips, from_elsewhere
from svc.identity.routes import session_cookie
from svc.identity.service import SESSION_COOKIE, Identity
from svc.principal import system
from svc.protocol import Request, Response, Route, Says, Wire, cookie, redirect
from svc.settings import canonical_origin
from svc.workspace import RequestContext

START_PATH: Final = "/auth/idp/start"
CALLBACK_PATH: Final = "/auth/idp/callback"

PROVIDER_AWAY: Final = "provider-away"
REFUSED: Final = "refused"
REFUSALS: Final[Mapping[str, str]] = {
    NOT_ADMITTED.detail: "not-admitted",
    UNVERIFIED.detail: "unverified",
    OTHER_PROVIDER.detail: "other-provider",
}
"""The codes for people who were identified but may not come in."""

TRIPS: Final = RoundTrips(purpose="login", cookie="svc_login", path="/auth/idp/")
_KEY_BYTES: Final = 32
_ANONYMOUS: Final = system("login")
"""Nobody is signed in yet: the round trip belongs to the browser only."""


class StartQuery(Wire, frozen=True):
    """``invite``: the code of an invite or the claim token; ``next``: where in the app to go afterwards."""

    invite: str = ""
    next: str = HOME


class CallbackQuery(Wire, frozen=True):
    """The parameters that the provider adds."""

    state: str = ""
    code: str | None = None
    error: str | None = None


async def start(context: RequestContext, request: Request) -> Response:
    """Send the browser to the provider's sign-in screen."""
    credentials = await _configured(context)
    origin = _origin(context)
    if other := from_elsewhere(request, origin=origin):
        return other
    carried = _carried_data(request)
    try:
        provider = await context.workspace.service(OpenIdLogin).provider()
    except ProviderAway as away:
        context.workspace.log.warning("identity.provider_away", reason=away.detail)
        return _back_to_login(PROVIDER_AWAY, carried)
    browser_key = TRIPS.browser_key(request) or secrets.token_urlsafe(_KEY_BYTES)
    trip = await TRIPS.begin(
        context, _ANONYMOUS, browser_key=browser_key, payload=sealed(carried, browser_key=browser_key)
    )
    location = authorization_url(
        provider,
        client_id=credentials.client_id,
        redirect_uri=origin + CALLBACK_PATH,
        state=trip.state,
        nonce=nonce_of(trip),
        code_challenge=trip.challenge,
    )
    return TRIPS.away(location, trip, origin=origin)


async def callback(context: RequestContext, request: Request) -> Response:
    """Redeem the code, identify the person, and open a session if they may have one."""
    query = request.query()
    trip = await TRIPS.end(context, request, _ANONYMOUS)
    if trip is None:
        raise ROUND_TRIP_REFUSED
    credentials = await _configured(context)
    carried = opened(trip)
    identity = context.workspace.service(Identity)
    try:
        who = await _identified(context, credentials, trip, query)
        signed_in = await identity.write(
            admit,
            who=who,
            invite=carried.invite,
            claiming=identity.claiming(request),
            old_cookie=cookie(request.headers, SESSION_COOKIE),
            device_name=(request.headers.get("user-agent") or "Browser")[:MAX_NAME_CHARS],
            seen_from=identity.seen_from(request),
        )
    except SignInRefused as refused:
        context.workspace.log.warning("identity.sign_in_refused", cause=refused.cause, reason=refused.detail)
        return _back_to_login(refused.cause, carried)
    except ProviderAway as away:
        context.workspace.log.warning("identity.provider_away", reason=away.detail)
        return _back_to_login(PROVIDER_AWAY, carried)
    except Refusal as refusal:
        return _back_to_login(REFUSALS.get(refusal.detail, REFUSED), carried)
    # The browser's key stays until it expires: another tab of this browser may have a round trip of its own.
    return redirect(carried.next, headers=[session_cookie(context, request, signed_in)])


async def _identified(
    context: RequestContext, credentials: ClientCredentials, trip: OAuthState, query: dict[str, str]
) -> VerifiedIdentity:
    login = context.workspace.service(OpenIdLogin)
    provider = await login.provider()
    if "code" not in query:
        raise _not_consented(query.get("error", ""))
    named = query.get("iss")
    if named != provider.issuer and (named is not None or provider.names_issuer_in_callback):  # RFC 9207
        raise SignInRefused("another-service", "Another sign-in service answered than the one that was asked.")
    return await login.sign_in(
        credentials=credentials,
        code=query["code"],
        code_verifier=trip.verifier,
        nonce=nonce_of(trip),
        redirect_uri=_origin(context) + CALLBACK_PATH,
    )


async def _configured(context: RequestContext) -> ClientCredentials:
    """The OAuth client of this instance. 501 without one."""
    credentials = await context.workspace.service(Identity).oauth_client()
    if credentials is None:
        raise NotConfigured(
            "No identity provider is configured. Set its OAuth client under Settings > Credentials, or start the "
            "service with IDP_CLIENT_ID and IDP_CLIENT_SECRET."
        )
    return credentials


def _carried_data(request: Request) -> CarriedData:
    query = request.query()
    return CarriedData(
        invite=query.get("invite", "")[:MAX_INVITE_CHARS] or None,
        next=safe_next(query.get("next", HOME)),
    )


def _back_to_login(code: str, carried: CarriedData) -> Response:
    """Redirect to the login page with the reason, and with the data that a second try needs."""
    query = {"error": code}
    if carried.next != HOME:
        query["next"] = carried.next
    if carried.invite is not None:
        query["invite"] = carried.invite
    return redirect("/login?" + urlencode(query, quote_via=quote))


def _not_consented(error: str) -> SignInRefused:
    if error == "access_denied":
        return SignInRefused("no-consent", "The person did not allow the sign-in.")
    return SignInRefused("ended", "The sign-in service ended the sign-in.")


def _origin(context: RequestContext) -> str:
    return canonical_origin(context.workspace.config, port=context.workspace.port)


ROUTES: tuple[Route[RequestContext], ...] = (
    Route(
        method="GET",
        path=START_PATH,
        access="public",
        handle=limited(start),
        summary="Begin to sign in: redirect to the identity provider.",
        says=Says(query=StartQuery, answers={302: None}),
    ),
    Route(
        method="GET",
        path=CALLBACK_PATH,
        access="public",
        handle=limited(callback),
        summary="The identity provider sends the browser back here.",
        says=Says(query=CallbackQuery, answers={302: None}),
    ),
)
