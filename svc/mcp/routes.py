"""The routes for runs that use MCP servers: how a server that the run may use is reached, and what was found there."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgspec

from svc.broker import McpServers
from svc.errors import Conflict, Forbidden, Invalid, Refusal
from svc.mcp.pinned import CAPABILITY, may_use, note, under_way
from svc.mcp.servers import McpServer, agreed_server
from svc.protocol import Request, Response, Route, Wire, json_response
from svc.runs import RunGrant, grant_of
from svc.store import ReadTx, Tx
from svc.worker.mcp import FOUND_PATH, ORDER_PATH, Seen
from svc.worker.mcp.client import words
from svc.worker.terms import BROKER_PATH
from svc.workspace import RequestContext, Workspace

MAX_FOUND_BYTES: Final = 8 * 1024 * 1024
"""The report about one MCP server's tools. Beyond: refused."""
MAX_UNDER_WAY: Final = 32
"""Calls of MCP servers in progress at once. Beyond: the next is refused, and the model is told."""


T = TypeVar("T")


class OrderInput(Wire, frozen=True):
    server: str


class FoundInput(Wire, frozen=True):
    server: str
    launch: str
    seen: dict[str, Any]


async def order(context: RequestContext, request: Request) -> Response:
    """How it is reached. A program may be started once, soon."""
    workspace = context.workspace
    grant = await grant_of(workspace, request)
    name = (await _wanted(request, OrderInput, 64 * 1024)).server
    found = await workspace.store.read(_usable, workspace, grant, name)
    declaration = found.declaration
    if declaration.command:
        workspace.service(McpServers).allow_spawn(grant.run_id, name)
    said = {
        "kind": declaration.kind,
        "launch": declaration.launch,
        "command": declaration.command,
        "read": declaration.folders.read,
        "write": declaration.folders.write,
        "never": str(workspace.home.path) if declaration.command else "",
    }
    return json_response(said)


async def found(context: RequestContext, request: Request) -> Response:
    workspace = context.workspace
    grant = await grant_of(workspace, request)
    wanted = await _wanted(request, FoundInput, MAX_FOUND_BYTES)
    try:
        seen = msgspec.convert(wanted.seen, Seen)
    except msgspec.ValidationError as error:
        raise Invalid(str(error)) from None
    await workspace.store.write(_note, workspace, grant, wanted, seen)
    return json_response({})


def _usable(tx: ReadTx, workspace: Workspace, grant: RunGrant, name: str) -> McpServer:
    """Raises 403, 409 and 429."""
    if not grant.grants.allow(f"{CAPABILITY}{name}"):
        raise Forbidden(f"This run is not granted {CAPABILITY}{name}.", data={"reason": "not_granted"})
    server = agreed_server(tx, workspace, grant.principal, name)
    if server is None:
        raise Conflict("Nobody has agreed to the server as it is declared now. See Settings, MCP servers.")
    if not may_use(tx, server, run_id=grant.run_id, principal=grant.principal):
        raise Forbidden("No call of this server was let through.", data={"reason": "not_granted"})
    if under_way(tx) > MAX_UNDER_WAY:
        raise Refusal("Too many calls of MCP servers are under way.", code="rate_limited")
    return server


def _note(tx: Tx, workspace: Workspace, grant: RunGrant, wanted: FoundInput, seen: Seen) -> None:
    server = _usable(tx, workspace, grant, wanted.server)
    if wanted.launch != server.declaration.launch:
        raise Conflict("The server was declared anew meanwhile.")
    tidy = msgspec.structs.replace(
        seen, version=words(seen.version), title=words(seen.title), left_out=tuple(map(words, seen.left_out))
    )
    note(tx, server, tidy, by_environment=server.by_environment)


async def _wanted(request: Request, kind: type[T], limit: int) -> T:
    try:
        return msgspec.convert(await request.read_json(limit), kind)
    except msgspec.ValidationError as error:
        raise Invalid(str(error)) from None


ROUTES: Final = (
    Route(
        method="POST",
        path=f"{BROKER_PATH}{ORDER_PATH}",
        access="authenticated",
        handle=order,
        summary="How an MCP server is reached that the run may use now.",
        listener="internal",
    ),
    Route(
        method="POST",
        path=f"{BROKER_PATH}{FOUND_PATH}",
        access="authenticated",
        handle=found,
        summary="Which tools an MCP server was found to have.",
        listener="internal",
    ),
)
