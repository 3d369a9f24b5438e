"""``GET /oauth/mcp/start`` and ``/oauth/mcp/callback``: a person signs in at an MCP server of theirs, in the browser.
``/oauth/mcp/client.json`` tells the place that asks who we are.

What went wrong on the way ends on the settings page with a code for its reason, which the page has the words for
(``static/mcp/sign_in.js``): words in an address could be anybody's. So does a state that is missing, stale, used or
begun elsewhere, of which nothing comes.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

import msgspec

from svc.errors import Conflict, Forbidden, NotFound
from svc.identity import RoundTrips, from_elsewhere
from svc.mcp import pinned
from svc.mcp.servers import McpServer, agreed_server
from svc.mcp.signing.discovery import DOCUMENT_PATH, own_document
from svc.mcp.signing.sign_ins import CALLBACK_PATH, SignInRefused, SignIns, Trip, may_sign_in
from svc.principal import Principal
from svc.protocol import Request, Response, Route, Says, Wire, json_response, redirect
from svc.runs import Dispatcher
from svc.store import Tx
from svc.workspace import RequestContext, Workspace

START_PATH: Final = "/oauth/mcp/start"
SETTINGS_PAGE: Final = "/settings/mcp"
TRIPS: Final = RoundTrips(purpose="mcp")


class StartQuery(Wire, frozen=True):
    """``server``: its name."""

    server: str = ""


class CallbackQuery(Wire, frozen=True):
    """What the authorization server adds."""

    state: str = ""
    code: str | None = None
    error: str | None = None
    iss: str | None = None


class ClientDocument(msgspec.Struct, frozen=True, kw_only=True):
    """By OAuth's own names, so no record of the wire."""

    client_id: str
    client_name: str
    client_uri: str
    redirect_uris: tuple[str, ...]
    grant_types: tuple[str, ...]
    response_types: tuple[str, ...]
    token_endpoint_auth_method: str


async def start(context: RequestContext, request: Request) -> Response:
    """Send the browser to the place that the person was shown (``mcp.signIn``)."""
    in_person(context.principal)
    workspace = context.workspace
    sign_ins = workspace.service(SignIns)
    if other := from_elsewhere(request, origin=sign_ins.origin):
        return other
    server = await usable(context, request.query().get("server", ""))
    trip = await sign_ins.trip(server)
    started = await TRIPS.begin(
        context,
        context.principal,
        browser_key=TRIPS.browser_key(request),
        payload=msgspec.json.encode(trip).decode(),
    )
    location = await sign_ins.consent_url(server, started)
    return TRIPS.away(location, started, origin=sign_ins.origin)


async def callback(context: RequestContext, request: Request) -> Response:
    """Take the code, keep what it is good for, and look at the server's tools."""
    in_person(context.principal)
    workspace, query = context.workspace, request.query()
    ended = await TRIPS.end(context, request, context.principal)
    if ended is None:
        return redirect(f"{SETTINGS_PAGE}?signIn=stale")
    trip = msgspec.json.decode(ended.payload, type=Trip)
    try:
        try:
            server = await usable(context, trip.name)
        except (NotFound, Conflict):
            raise SignInRefused("changed") from None
        if "code" not in query:
            raise SignInRefused("no-consent" if query.get("error") == "access_denied" else "ended")
        await workspace.service(SignIns).finish(server, trip, ended, code=query["code"], issuer=query.get("iss"))
    except SignInRefused as refused:
        workspace.log.warning("mcp.sign_in_refused", cause=refused.cause)
        return redirect(f"{SETTINGS_PAGE}?{urlencode({'server': trip.name, 'signIn': refused.cause})}")
    if await workspace.store.write(_look, workspace, context.principal, server):
        workspace.service(Dispatcher).wake.call()
    return redirect(SETTINGS_PAGE)


async def client_document(context: RequestContext, request: Request) -> Response:
    """It holds nothing of anybody: what is in it is sent with each sign-in."""
    sign_ins = context.workspace.service(SignIns)
    return json_response(own_document(sign_ins.origin, redirect=sign_ins.redirect_uri))


async def usable(context: RequestContext, name: str) -> McpServer:
    """One that a person has agreed to reach as it is, and that may want a sign-in. Raises 404 and 409."""
    server = await context.workspace.store.read(agreed_server, context.workspace, context.principal, name)
    if server is None or not may_sign_in(server):
        raise NotFound("There is no such MCP server of yours that is connected and could want a sign-in.")
    return server


def in_person(principal: Principal) -> None:
    """A device's program could be the one that was talked into it."""
    if principal.via in {"device", "run"}:
        raise Forbidden("A person says this, in the app.")


def _look(tx: Tx, workspace: Workspace, principal: Principal, server: McpServer) -> bool:
    """It was agreed to already how the server is reached. Whether it still is as it was then."""
    now = agreed_server(tx, workspace, principal, server.name)
    if now is None or now.declaration.launch != server.declaration.launch:
        return False
    pinned.connect(tx, now, launch=now.declaration.launch, user_id=principal.user_id)
    return True


ROUTES: Final[tuple[Route[RequestContext], ...]] = (
    Route(
        method="GET",
        path=START_PATH,
        access="authenticated",
        handle=start,
        summary="Begin to sign in at an MCP server: redirect to the place that mcp.signIn has shown.",
        says=Says(query=StartQuery, answers={302: None}),
    ),
    Route(
        method="GET",
        path=CALLBACK_PATH,
        access="authenticated",
        handle=callback,
        summary="The MCP server's authorization server sends the browser back here.",
        says=Says(query=CallbackQuery, answers={302: None}),
    ),
    Route(
        method="GET",
        path=DOCUMENT_PATH,
        access="public",
        handle=client_document,
        summary="Who this server is as an OAuth client, for authorization servers that read it there.",
        says=Says(answers={200: ClientDocument}),
    ),
)
