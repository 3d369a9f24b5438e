"""``GET /oauth/mail/start`` and ``/oauth/mail/callback``: a person connects an account (spec 1.1, rules 1-3).

The start names the kind of provider, which is stored with the state. Some providers want another spelling of this
machine's name. They send browsers to ``/oauth/mail/landing``, which redirects to the callback, because the cookies of
the round trip are set for our spelling.

A mistake of the person or a refusal of the provider ends on the mail page, with a code for the reason. The page has a
sentence for each code (``static/mail/consent_refusals.js``): a sentence in the address could be written by anybody. A
state that is missing, stale, used or begun by another browser is refused with 403.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, urlencode

import msgspec

from svc.errors import NotConfigured, NotFound
from svc.identity import ROUND_TRIP_REFUSED, RoundTrips, from_elsewhere
from svc.mail.connecting.connection import CALLBACK_PATH, LANDING_PATH, Connecting, Connections, ConnectRefused
from svc.mail.providers.kinds import BY_OAUTH
from svc.mail.providers.table import Providers
from svc.mail.sync.engine import MailEngine
from svc.protocol import Request, Response, Route, Says, Wire, redirect
from svc.settings import PORT, canonical_origin
from svc.workspace import RequestContext, Workspace

TRIPS: Final = RoundTrips(purpose="mail")


class StartQuery(Wire, frozen=True):
    """``email``: the address of the mailbox, where it is known; ``provider``: as `mail.signIns` names it."""

    email: str = ""
    provider: str = ""


class CallbackQuery(Wire, frozen=True):
    """The parameters that the provider adds."""

    state: str = ""
    code: str | None = None
    error: str | None = None
    error_description: str | None = msgspec.field(name="error_description", default=None)


async def start(context: RequestContext, request: Request) -> Response:
    """Send the browser to the provider's consent screen."""
    asked = request.query()
    connecting = await _configured(context, asked.get("provider", ""))
    origin = origin_of(context.workspace)
    if other := from_elsewhere(request, origin=origin):
        return other
    started = await TRIPS.begin(
        context,
        context.principal,
        browser_key=TRIPS.browser_key(request),
        hint=asked.get("email", "")[:320],
        payload=connecting.kind.name,
    )
    try:
        location = await connecting.consent_url(started, origin=origin)
    except ConnectRefused as refused:
        return redirect(_told(refused))
    return TRIPS.away(location, started, origin=origin)


async def callback(context: RequestContext, request: Request) -> Response:
    """Redeem the code, learn whose mailbox it is, store the tokens, start the sync."""
    query = request.query()
    origin = origin_of(context.workspace)
    ended = await TRIPS.end(context, request, context.principal)
    if ended is None:
        raise ROUND_TRIP_REFUSED
    connecting = await _configured(context, ended.payload)
    try:
        if "code" not in query:
            raise connecting.refused(query.get("error", ""), query.get("error_description", ""))
        account_id = await connecting.finish(context.principal, ended, code=query["code"], origin=origin)
    except ConnectRefused as refused:
        return redirect(_told(refused))
    await context.workspace.service(MailEngine).start_account(account_id)
    return redirect("/")


async def landing(context: RequestContext, request: Request) -> Response:
    """Redirect to the callback with the same parameters. Nothing is decided here."""
    return redirect(f"{origin_of(context.workspace)}{CALLBACK_PATH}?{request.target.partition('?')[2]}")


async def _configured(context: RequestContext, name: str) -> Connecting:
    """The service that connects accounts of a kind. Raises 501 where no OAuth client is set, and always with fakes."""
    kinds = context.workspace.service(Connections).kinds
    connecting = kinds.get(name or BY_OAUTH.name)
    if connecting is None:
        raise NotFound("There is no such mail provider.")
    if not await is_ready(context.workspace, connecting):
        raise NotConfigured(
            f"No OAuth client for mail at {connecting.kind.terms.service} is configured. Set "
            f"{connecting.kind.client_settings} and start the service again, or set it under Settings > Credentials."
        )
    return connecting


async def is_ready(workspace: Workspace, connecting: Connecting) -> bool:
    """Whether a person can begin to connect an account."""
    return connecting.kind.name in workspace.service(Providers) and await connecting.grants.is_configured()


def origin_of(workspace: Workspace) -> str:
    return canonical_origin(workspace.config, port=workspace.port or workspace.config[PORT])


def _told(refused: ConnectRefused) -> str:
    """The address of the mail page, which shows the reason."""
    return "/p/mail?" + urlencode({"connect": refused.cause}, quote_via=quote)


ROUTES: tuple[Route[RequestContext], ...] = (
    Route(
        method="GET",
        path="/oauth/mail/start",
        access="authenticated",
        handle=start,
        summary="Begin to connect a mail account: redirect to the provider's consent screen.",
        says=Says(query=StartQuery, answers={302: None}),
    ),
    Route(
        method="GET",
        path=CALLBACK_PATH,
        access="authenticated",
        handle=callback,
        summary="The provider sends the browser back here.",
        says=Says(query=CallbackQuery, answers={302: None}),
    ),
    Route(
        method="GET",
        path=LANDING_PATH,
        access="public",
        handle=landing,
        summary="On to the callback, from a provider that takes another spelling of this machine's name.",
        says=Says(query=CallbackQuery, answers={302: None}),
    ),
)
