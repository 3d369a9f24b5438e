"""The rows that MCP adds to the feature tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from svc.broker import McpServers, Server
from svc.configuring import Configuration
from svc.feature import Feature
from svc.job import Job
from svc.mcp.declared import KIND
from svc.mcp.environment import connect_environment
from svc.mcp.from_plugins import are_brought
from svc.mcp.migrations import MIGRATIONS
from svc.mcp.procedures import PROCEDURES
from svc.mcp.routes import ROUTES as INTERNAL_ROUTES
from svc.mcp.server import post, refuse
from svc.mcp.servers import admins, agreed_server
from svc.mcp.settings import SERVERS, SETTINGS
from svc.mcp.signing import SignIns
from svc.mcp.signing.kept import everybody as signed_in
from svc.mcp.signing.procedures import PROCEDURES as SIGN_IN_PROCEDURES
from svc.mcp.signing.routes import ROUTES as SIGN_IN_ROUTES
from svc.mcp.stdio import COMMAND
from svc.mcp.tool_rows import source
from svc.nursery import Subsystem
from svc.principal import Principal
from svc.protocol import Route, Says
from svc.store import ReadTx
from svc.tools import Tools
from svc.worker.mcp import ROWS as WORKER
from svc.workspace import Workspace

HOUR_S: Final = 3_600.0
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
    sign_ins = SignIns(workspace=workspace)

    async def lookup(principal: Principal, name: str) -> Server | None:
        server = await workspace.store.read(agreed_server, workspace, principal, name)
        if server is None:
            return None
        return server.declaration.server(
            by_admin=server.by_admin, may_be_inside=server.may_be_inside, sign_in=sign_ins.of(server)
        )

    workspace.provide(sign_ins)
    workspace.service(Configuration).add(KIND)
    workspace.service(McpServers).declare(lookup)
    workspace.service(Tools).add(source(workspace))


async def _forget_gone(workspace: Workspace) -> None:
    """Delete the sign-ins of pages and plugins that no longer exist."""
    sign_ins = workspace.service(SignIns)
    for server_id in await workspace.store.read(_gone, workspace):
        await sign_ins.sign_out(server_id, None)


def _gone(tx: ReadTx, workspace: Workspace) -> list[str]:
    ids = signed_in(tx)
    there = {page.page_id for page in workspace.service(Configuration).of(tx, KIND, everybody=True)}
    there |= are_brought(workspace, [None, *admins(tx)], ids)
    return [server_id for server_id in ids if server_id not in there]


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    if not workspace.config[SERVERS]:
        return []
    return [Subsystem(name="mcp", run=partial(connect_environment, workspace))]


JOB: Final = Job(
    name="mcp",
    summary="Forgets what was granted at MCP servers whose pages are gone.",
    run=_forget_gone,
    every_s=HOUR_S,
    at_once=False,
)
FEATURE = Feature(
    name="mcp",
    summary="Our tools for programs that speak the Model Context Protocol, and the tools of others for our agents.",
    settings=SETTINGS,
    migrations=MIGRATIONS,
    tables=("mcp_servers", "mcp_tools", "mcp_sign_ins"),
    uses=("mcp.*",),
    routes=(*ROUTES, *INTERNAL_ROUTES, *SIGN_IN_ROUTES),
    procedures=(*PROCEDURES, *SIGN_IN_PROCEDURES),
    jobs=(JOB,),
    build=_build,
    subsystems=_subsystems,
    worker=WORKER,
    commands=(COMMAND,),
)
