"""The MCP servers that plugins bring: they belong to the admins, as those of the environment do.

A plugin's server counts only after an admin has agreed to the plugin's rights. Then each admin connects it and allows
its tools as for a server of a page: what one admin agrees to, and signs in to, is theirs alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from svc import plugins
from svc.broker import FromCapability
from svc.mcp.declared import HEADER, VARIABLE, Declaration, Value, url_problem
from svc.plugins import McpRow, Plugins
from svc.store import ReadTx
from svc.workspace import Workspace

_PREFIX: Final = "plg_"
_ID_CHARS: Final = 32


def brought(tx: ReadTx, workspace: Workspace) -> dict[str, tuple[str, Declaration, str]]:
    """By the server's name: its plugin, its declaration, and why it may not be used, if it may not. If two plugins
    bring a name, the first plugin has it.
    """
    found: dict[str, tuple[str, Declaration, str]] = {}
    for plugin, row in workspace.service(Plugins).servers(plugins.decided(tx)):
        found.setdefault(row.name, (plugin.name, declared(row), problem(row)))
    return found


def id_of(user_id: str | None, plugin: str, name: str) -> str:
    """The id of this admin's connection to the server."""
    said = "\0".join((user_id or "", plugin, name))
    return f"{_PREFIX}{hashlib.sha256(said.encode()).hexdigest()[:_ID_CHARS]}"


def are_brought(workspace: Workspace, admins: Collection[str | None], ids: Iterable[str]) -> set[str]:
    """Those of the ids that name a server which a plugin brings to one of these admins, whether it may be used now or
    not. While a wanted plugin is not installed or can't be read, every id of a plugin's server counts.
    """
    asked = {server_id for server_id in ids if server_id.startswith(_PREFIX)}
    installed = workspace.service(Plugins)
    if not installed.are_known:
        return asked
    return asked & {
        id_of(user_id, standing.name, row.name)
        for standing in installed.standings()
        if standing.plugin is not None and standing.plugin.manifest is not None
        for row in standing.plugin.manifest.mcp
        for user_id in admins
    }


def declared(row: McpRow) -> Declaration:
    given = row.env if row.command is not None else row.headers
    values: Mapping[str, Value] = {
        name: value if isinstance(value, str) else FromCapability(value.capability) for name, value in given.items()
    }
    command = () if row.command is None else (row.command, *row.args)
    return Declaration(command=command, url=row.url or "", values=values)


def problem(row: McpRow) -> str:
    """A manifest allows what a page does not."""
    pattern, given = (VARIABLE, row.env) if row.command is not None else (HEADER, row.headers)
    for name in given:
        if not pattern.fullmatch(name):
            return f"Its plugin gives it {name}, which is no name of a {'variable' if row.env else 'header'}."
    wrong = url_problem(row.url) if row.url is not None else ""
    return f"Its plugin names no address that svc reaches: {wrong}." if wrong else ""
