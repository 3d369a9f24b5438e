"""``GET /oauth/mail/start`` and ``/oauth/mail/callback``: a person connects an account (spec 1.1, rules 1-3).

What a person did wrong, or the provider would not grant, ends on the mail page with a code for its reason, which the
page has the words for (``static/mail/refusals.js``): words in an address could be anybody's. A state that is missing,
stale, used or begun elsewhere is refused with 403.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, urlencode

from svc.errors import NotConfigured
from svc.identity import ROUND_TRIP_REFUSED, begin_round_trip, end_round_trip
from svc.mail.connecting.connection import Connections, ConnectRefused
from svc.mail.providers.kinds import BY_OAUTH
from svc.mail.providers.table import Providers
from svc.mail.sync.engine import MailEngine
from svc.protocol import Request, Response, Route, cookie, redirect, set_cookie
from svc.settings import PORT, canonical_origin
from svc.workspace import RequestContext

BROWSER_COOKIE: Final = "svc_oauth"
COOKIE_LIFETIME_S: Final = 600
CALLBACK_PATH: Final = "/oauth/mail/callback"
_COOKIE_PATH: Final = "/oauth/"
_PURPOSE: Final = "mail"


async def start(context: RequestContext, request: Request) -> Response:
    """Send the browser to the provider's consent screen."""
    connections = await _configured(context)
    origin = _origin(context)
    if request.headers.get("host") != origin.partition("://")[2]:
        # The cookie that binds the state has to be there at the callback, so the trip begins on the canonical origin.
        return redirect(origin + request.target)
    started = await context.workspace.store.write(
        begin_round_trip,
        context.principal,
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


async def callback(context: RequestContext, request: Request) -> Response:
    """Take the code, learn whose mailbox it is, keep the tokens, start the sync."""
    connections = await _configured(context)
    query = request.query()
    origin = _origin(context)
    ended = await context.workspace.store.write(
        end_round_trip,
        context.principal,
        purpose=_PURPOSE,
        state=query.get("state", ""),
        browser_key=cookie(request.headers, BROWSER_COOKIE),
    )
    if ended is None:
        raise ROUND_TRIP_REFUSED
    # The cookie stays until it expires: another tab of this browser may be on the same round trip.
    try:
        if "code" not in query:
            raise ConnectRefused("no-consent" if query.get("error") == "access_denied" else "ended")
        account_id = await connections.finish(
            context.principal, ended, code=query["code"], redirect_uri=origin + CALLBACK_PATH
        )
    except ConnectRefused as refused:
        return redirect(_told(refused))
    await context.workspace.service(MailEngine).start_account(account_id)
    return redirect("/")


async def _configured(context: RequestContext) -> Connections:
    """The connections, once there is an OAuth client to speak with. 501 otherwise, and always under the fakes."""
    connections = context.workspace.service(Connections)
    if BY_OAUTH.name not in context.workspace.service(Providers) or not await connections.grants.is_configured():
        raise NotConfigured(
            "No mail provider is configured. Set IDP_CLIENT_ID and IDP_CLIENT_SECRET and start the service again."
        )
    return connections


def _origin(context: RequestContext) -> str:
    return canonical_origin(context.workspace.config, port=context.workspace.port or context.workspace.config[PORT])


def _told(refused: ConnectRefused) -> str:
    """The mail page, where the person reads why."""
    return "/p/mail?" + urlencode({"connect": refused.cause}, quote_via=quote)


ROUTES: tuple[Route[RequestContext], ...] = (
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
