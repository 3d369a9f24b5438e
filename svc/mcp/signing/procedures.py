"""The procedures of sign-ins at MCP servers: where the user signs in, as which client, and signing out."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import urlencode

import msgspec

from svc.mcp.servers import server_of
from svc.mcp.signing.discovery import DOCUMENT_PATH
from svc.mcp.signing.routes import START_PATH, in_person, usable
from svc.mcp.signing.sign_ins import SignIns, host_of
from svc.protocol import NOTHING, Nothing, Procedure, Wire
from svc.workspace import RequestContext

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class SignInInput(Wire, frozen=True):
    name: Name


class SignInOut(Wire, frozen=True):
    """``place``: the host at which the user signs in; ``server``: the only one that gets the access. ``wants_client``:
    the authorization server registers no clients, so a person makes one there, with ``redirect`` as its address, and
    enters it here. ``start``: where the browser goes after that. ``document``: the address where the authorization
    server reads who this server is. If it can't read it, a client made by hand is used instead.
    """

    place: str
    server: str
    scopes: tuple[str, ...]
    wants_client: bool
    redirect: str
    start: str
    document: str | None


class SetClientInput(Wire, frozen=True):
    name: Name
    client_id: Annotated[str, msgspec.Meta(min_length=1, max_length=1_000, pattern=r"^[\x20-\x7e]+$")]
    client_secret: Annotated[str, msgspec.Meta(max_length=2_000, pattern=r"^[\x20-\x7e]*$")] = ""


async def sign_in(context: RequestContext, wanted: SignInInput) -> SignInOut:
    in_person(context.principal)
    server = await usable(context, wanted.name)
    sign_ins = context.workspace.service(SignIns)
    found, client = await sign_ins.look(server)
    return SignInOut(
        place=found.place,
        server=host_of(server.declaration.url),
        scopes=found.scopes,
        wants_client=client is None,
        redirect=sign_ins.redirect_uri,
        start=f"{START_PATH}?{urlencode({'server': server.name})}",
        document=client.id if client is not None and client.id == sign_ins.origin + DOCUMENT_PATH else None,
    )


async def set_client(context: RequestContext, wanted: SetClientInput) -> Nothing:
    in_person(context.principal)
    server = await usable(context, wanted.name)
    sign_ins = context.workspace.service(SignIns)
    await sign_ins.enter_client(server, client_id=wanted.client_id, secret=wanted.client_secret)
    return NOTHING


async def sign_out(context: RequestContext, wanted: SignInInput) -> Nothing:
    workspace = context.workspace
    server = await workspace.store.read(server_of, workspace, context.principal, wanted.name)
    await workspace.service(SignIns).sign_out(server.id, server)
    return NOTHING


PROCEDURES: Final = (
    Procedure(
        name="mcp.signIn",
        kind="mutation",
        access="authenticated",
        input=SignInInput,
        output=SignInOut,
        call=sign_in,
        summary="Find out where one signs in for an MCP server that wants it, and register there.",
    ),
    Procedure(
        name="mcp.setClient",
        kind="mutation",
        access="authenticated",
        input=SetClientInput,
        output=Nothing,
        call=set_client,
        summary="Enter the OAuth client that was made by hand for an MCP server.",
    ),
    Procedure(
        name="mcp.signOut",
        kind="mutation",
        access="authenticated",
        input=SignInInput,
        output=Nothing,
        call=sign_out,
        summary="Forget the access that was granted at an MCP server, and give it back.",
    ),
)
