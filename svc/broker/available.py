"""``/internal/broker/available``: whether a run could get a credential, and if not, why. It acquires nothing."""

from __future__ import annotations

from typing import Final, Literal

from svc.broker.asking import Call, call_of, wanted
from svc.broker.llm import PREFIX
from svc.broker.mcp import KEPT_FOR_SERVERS
from svc.broker.mcp_servers import LocalServer, McpServers
from svc.broker.vendors import VENDORS, Vendors
from svc.errors import NotFound
from svc.protocol import Request, Response, Route, Wire, json_response
from svc.switches import STDIO_MCP, is_on
from svc.workspace import RequestContext

Reason = Literal["not_granted", "not_configured", "profile"]


class AvailableInput(Wire, frozen=True):
    capability: str


class AvailableOut(Wire, frozen=True):
    available: bool
    reason: Reason | None


async def available(context: RequestContext, request: Request) -> Response:
    call = await call_of(context, request)
    name = (await wanted(request, AvailableInput)).capability
    reason = await _reason(call, name)
    return json_response(AvailableOut(available=reason is None, reason=reason))


async def _reason(call: Call, name: str) -> Reason | None:
    if not call.door.grants.allow(name):
        return "not_granted"
    if await _is_off(call, name):
        return "profile"
    if name in {vendor.capability for vendor in VENDORS} and not call.workspace.service(Vendors).want_keys:
        return None
    return None if await call.workspace.store.read(call.door.available, name) else "not_configured"


async def _is_off(call: Call, name: str) -> bool:
    """Under the profile ``cloud``, no server runs as a program."""
    if is_on(call.workspace.config, STDIO_MCP) or not name.startswith(KEPT_FOR_SERVERS):
        return False
    servers = call.workspace.service(McpServers)
    try:
        server = await servers.find(call.grant.principal, name.removeprefix(KEPT_FOR_SERVERS))
    except NotFound:
        return False
    return isinstance(server, LocalServer)


ROUTES: Final[tuple[Route[RequestContext], ...]] = (
    Route(
        method="POST",
        path=f"{PREFIX}/available",
        access="authenticated",
        handle=available,
        summary="Whether the run could have a credential, and if not, why.",
        listener="internal",
    ),
)
