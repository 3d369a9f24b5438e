"""``GET /oauth/mcp/start`` and ``/oauth/mcp/callback``: a person signs in at one of their MCP servers, in the browser.
``/oauth/mcp/client.json`` tells the authorization server who we are.

Every failure ends on the settings page with a code for its reason; the page has the messages
(``static/mcp/sign_in.js``), because anybody could write text into an address. A state that is missing, expired, used or
begun in another browser ends there too, and has no effect.
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
    """The parameters that the authorization server adds."""

    state: str = ""
    code: str | None = None
    error: str | None = None
    iss: str | None = None


class ClientDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The field names are OAuth's, so it is not a Wire class."""

    client_id: str
    client_name: str
    client_uri: str
    redirect_uris: tuple[str, ...]
    grant_types: tuple[str, ...]
    response_types: tuple[str, ...]
    token_endpoint_auth_method: str


async def start(context: RequestContext, request: Request) -> Response:
    """Send the browser to the host that the person was shown (``mcp.signIn``)."""
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
    """Exchange the code, store the tokens, and look at the server's tools."""
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
    """It contains nothing private: all of it is sent with each sign-in."""
    sign_ins = context.workspace.service(SignIns)
    return json_response(own_document(sign_ins.origin, redirect=sign_ins.redirect_uri))


async def usable(context: RequestContext, name: str) -> McpServer:
    """The server, if a person has agreed to it as it is declared now, and it may want a sign-in. Raises 404 and 409."""
    server = await context.workspace.store.read(agreed_server, context.workspace, context.principal, name)
    if server is None or not may_sign_in(server):
        raise NotFound("There is no such MCP server of yours that is connected and could want a sign-in.")
    return server


def in_person(principal: Principal) -> None:
    """Only in person, because a device's program could have been misled."""
    if principal.via in {"device", "run"}:
        raise Forbidden("A person says this, in the app.")


def _look(tx: Tx, workspace: Workspace, principal: Principal, server: McpServer) -> bool:
    """Look again at a server that a person already agreed to. Returns whether it is still declared as it was then."""
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
