"""The rows that MCP contributes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from svc.broker import McpServers, Server
from svc.configuring import Configuration
from svc.feature import Feature
from svc.mcp.declared import KIND
from svc.mcp.environment import connect_environment
from svc.mcp.migrations import MIGRATIONS
from svc.mcp.procedures import PROCEDURES
from svc.mcp.routes import ROUTES as INTERNAL_ROUTES
from svc.mcp.server import post, refuse
from svc.mcp.servers import for_broker
from svc.mcp.settings import SERVERS, SETTINGS
from svc.mcp.stdio import COMMAND
from svc.mcp.tool_rows import source
from svc.nursery import Subsystem
from svc.principal import Principal
from svc.protocol import Route, Says
from svc.tools import Tools
from svc.worker.mcp import ROWS as WORKER
from svc.workspace import Workspace

ROUTES: Final = (
    Route(
        method="POST",
        path="/mcp",
        access="authenticated",
        handle=post,
        summary="The tools of this service for MCP clients (streamable HTTP), with a device token.",
        says=Says(answers={200: "application/json", 202: None}, body="application/json"),
    ),
    Route(
        method="GET",
        path="/mcp",
        access="authenticated",
        handle=refuse,
        summary="Nothing: this server has no stream of its own.",
        says=Says(answers={405: None}),
    ),
)


def _build(workspace: Workspace) -> None:
    async def lookup(principal: Principal, name: str) -> Server | None:
        return await workspace.store.read(for_broker, workspace, principal, name)

    workspace.service(Configuration).add(KIND)
    workspace.service(McpServers).declare(lookup)
    workspace.service(Tools).add(source(workspace))


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    if not workspace.config[SERVERS]:
        return []
    return [Subsystem(name="mcp", run=partial(connect_environment, workspace))]


FEATURE = Feature(
    name="mcp",
    summary="Our tools for programs that speak the Model Context Protocol, and the tools of others for our agents.",
    settings=SETTINGS,
    migrations=MIGRATIONS,
    tables=("mcp_servers", "mcp_tools"),
    uses=("mcp.*",),
    routes=(*ROUTES, *INTERNAL_ROUTES),
    procedures=PROCEDURES,
    build=_build,
    subsystems=_subsystems,
    worker=WORKER,
    commands=(COMMAND,),
)
