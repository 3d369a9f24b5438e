"""The rows that MCP contributes."""

from __future__ import annotations

from typing import Final

from svc.feature import Feature
from svc.mcp.server import post, refuse
from svc.mcp.settings import SETTINGS
from svc.mcp.stdio import COMMAND
from svc.protocol import Route, Says

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

FEATURE = Feature(
    name="mcp",
    summary="Our tools for programs that speak the Model Context Protocol.",
    settings=SETTINGS,
    routes=ROUTES,
    commands=(COMMAND,),
)
