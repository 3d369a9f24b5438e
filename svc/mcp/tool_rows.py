"""The tools of MCP servers as rows beside our own: only tools that a person has agreed to, as they were then.

A call goes to another party's program, so each is a sink. A person decides on it, unless the agent's definition says
``auto`` and the run has no text from outside but what this server says of its tools. The answer is text from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

import msgspec

from svc.inert import inert
from svc.mcp.pinned import Pinned, grants_of, kept, pinned
from svc.mcp.servers import McpServer, servers_of
from svc.principal import Principal
from svc.store import ReadTx
from svc.tools import DESCRIPTIONS, CardRow, Tool, card_row, host_marks
from svc.workflow import Json
from svc.workspace import Workspace

PREFIX: Final = "mcp"
MAX_ABOUT_CHARS: Final = 4_000
"""A foreign tool's description, as a model reads it. Beyond: it is cut."""


def tool_name(server: str, tool: str) -> str:
    return f"{PREFIX}.{server}.{tool}"


def source(workspace: Workspace) -> Callable[[ReadTx, Principal], Iterable[Tool]]:
    return partial(_tools, workspace)


def _tools(workspace: Workspace, tx: ReadTx, principal: Principal) -> list[Tool]:
    if tx.value("select 1 from mcp_servers limit 1") is None:
        return []
    found: list[Tool] = []
    for server in servers_of(tx, workspace, principal).values():
        known = kept(tx, server.id)
        if server.problem or known is None or known.launch != server.declaration.launch:
            continue
        found += [_row(server, one) for one in pinned(tx, server.id) if one.state == "allowed"]
    return found


def _row(server: McpServer, one: Pinned) -> Tool:
    tool = one.said.tool
    about = inert(tool.description or tool.title or tool.name)[:MAX_ABOUT_CHARS]

    def hand_over(wanted: dict[str, Any]) -> Json:
        return {"server": server.name, "tool": tool.name, "arguments": wanted, "digest": one.digest}

    def sink(tx: ReadTx, principal: Principal, wanted: dict[str, Any]) -> str:
        return f"It goes to the MCP server {server.name}, which may do with it what it likes."

    def card(tx: ReadTx, principal: Principal, wanted: dict[str, Any]) -> tuple[CardRow, ...]:
        target = server.declaration.target
        marks = host_marks(target.split("/")[2]) if server.declaration.url else ()
        return (
            card_row("Server", f"{server.name} ({target})", *marks),
            card_row("Tool", tool.name),
            *(card_row(f"Input: {name}", _shown(value)) for name, value in wanted.items()),  # no "Server" of its own
        )

    return Tool(
        name=tool_name(server.name, tool.name),
        summary=about,
        input=dict[str, Any],
        described=tool.input_schema,
        described_by=f"{DESCRIPTIONS}the MCP server {server.name}",
        level="full",
        hand_over=hand_over,
        reads_outside=f"the MCP server {server.name}",
        sink=sink,
        card=card,
        keyless=True,
        grants=grants_of(server),
    )


def _shown(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value)).decode()
