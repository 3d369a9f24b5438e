"""``GET /oauth/mail/start`` and ``/oauth/mail/callback``: a person connects an account (spec 1.1, rules 1-3).

What a person did wrong, or the provider would not grant, ends on the mail page with its reason in words; a state that
is missing, stale, used or begun elsewhere is refused with 403.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, urlencode

from svc.errors import NotConfigured
from svc.identity import ROUND_TRIP_REFUSED, begin_round_trip, end_round_trip
from svc.mail.engine import MailEngine
from svc.mail.gmail.connection import Connections, ConnectRefused
from svc.protocol import Request, Response, Route, cookie, redirect, set_cookie
from svc.settings import PORT, canonical_origin, is_fake
from svc.workspace import Call

BROWSER_COOKIE: Final = "svc_oauth"
COOKIE_LIFETIME_S: Final = 600
CALLBACK_PATH: Final = "/oauth/mail/callback"
_COOKIE_PATH: Final = "/oauth/"
_PURPOSE: Final = "mail"


async def start(call: Call, request: Request) -> Response:
    """Send the browser to the provider's consent screen."""
    connections = await _configured(call)
    origin = _origin(call)
    if request.headers.get("host") != origin.partition("://")[2]:
        # The cookie that binds the state has to be there at the callback, so the trip begins on the canonical origin.
        return redirect(origin + request.target)
    started = await call.workspace.store.write(
        begin_round_trip,
        call.principal,
        purpose=_PURPOSE,
        hint=request.query().get("email", "")[:320],
        browser_key=cookie(request.headers, BROWSER_COOKIE),
    )
    try:
        location = await connections.consent_url(started, redirect_uri=origin + CALLBACK_PATH)
    except ConnectRefused as refused:
        return redirect(_told(refused))
    bind = set_cookie(
        BROWSER_COOKIE,
        started.browser_key,
        max_age_s=COOKIE_LIFETIME_S,
        secure=origin.startswith("https:"),
        path=_COOKIE_PATH,
    )
    return redirect(location, headers=[bind])


async def callback(call: Call, request: Request) -> Response:
    """Take the code, learn whose mailbox it is, keep the tokens, start the sync."""
    connections = await _configured(call)
    query = request.query()
    origin = _origin(call)
    ended = await call.workspace.store.write(
        end_round_trip,
        call.principal,
        purpose=_PURPOSE,
        state=query.get("state", ""),
        browser_key=cookie(request.headers, BROWSER_COOKIE),
    )
    if ended is None:
        raise ROUND_TRIP_REFUSED
    # The cookie stays until it expires: another tab of this browser may be on the same round trip.
    try:
        if "code" not in query:
            raise ConnectRefused(_refusal_of(query.get("error", "")))
        account_id = await connections.finish(
            call.principal, ended, code=query["code"], redirect_uri=origin + CALLBACK_PATH
        )
    except ConnectRefused as refused:
        return redirect(_told(refused))
    await call.workspace.service(MailEngine).start_account(account_id)
    return redirect("/")


async def _configured(call: Call) -> Connections:
    """The connections, once there is an OAuth client to speak with. 501 otherwise, and always under the fakes."""
    connections = call.workspace.service(Connections)
    if is_fake(call.workspace.config) or not await connections.is_configured():
        raise NotConfigured(
            "No mail provider is configured. Set IDP_CLIENT_ID and IDP_CLIENT_SECRET and start the service again."
        )
    return connections


def _origin(call: Call) -> str:
    return canonical_origin(call.workspace.config, port=call.workspace.port or call.workspace.config[PORT])


def _told(refused: ConnectRefused) -> str:
    """The mail page, where the person reads why."""
    return "/p/mail?" + urlencode({"connect": refused.reason}, quote_via=quote)


def _refusal_of(error: str) -> str:
    if error == "access_denied":
        return "You did not grant access, so nothing was connected."
    return "The provider did not grant access. Try again, or look at the OAuth client's settings there."


ROUTES: tuple[Route[Call], ...] = (
    Route(
        method="GET",
        path="/oauth/mail/start",
        access="authenticated",
        handle=start,
        summary="Begin to connect a mail account: redirect to the provider's consent screen.",
    ),
    Route(
        method="GET",
        path=CALLBACK_PATH,
        access="authenticated",
        handle=callback,
        summary="The provider sends the browser back here.",
    ),
)
