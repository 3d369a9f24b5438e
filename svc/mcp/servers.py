"""The MCP servers of a user: from pages below ``mcp/``, from the environment, and from plugins. With the same name,
the page wins, then the environment.

A page's server belongs to the page's owner; servers of the environment and of plugins belong to the admins. A page that
names a program counts only if an admin owns it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from svc.configuring import Configuration, Configured
from svc.errors import NotFound
from svc.mcp.declared import KIND, NAME, Declaration
from svc.mcp.from_plugins import brought, id_of
from svc.mcp.settings import SERVERS
from svc.principal import Principal
from svc.store import ReadTx
from svc.switches import STDIO_MCP, is_on
from svc.workspace import Workspace

ENVIRONMENT: Final = "env:"


@dataclass(frozen=True, kw_only=True)
class McpServer:
    """One of ``path`` (of its page), ``plugin`` (the package that brings it) and ``by_environment`` is given.
    ``problem``: why it may not be used.
    """

    id: str
    name: str
    title: str
    path: str | None
    declaration: Declaration
    by_admin: bool
    plugin: str | None = None
    by_environment: bool = False
    problem: str = ""

    @property
    def may_be_inside(self) -> bool:
        """Whether its address may be in this machine's own network. Who agrees to a plugin sees a name, and its author
        says later where the name leads.
        """
        return self.by_admin and (self.plugin is None or self.declaration.says_where)


def servers_of(tx: ReadTx, workspace: Workspace, principal: Principal) -> dict[str, McpServer]:
    """All of them, by name."""
    found: dict[str, McpServer] = {}
    configuration = workspace.service(Configuration)
    if is_admin(tx, principal):
        claimed = {
            page.name
            for page in configuration.of(tx, KIND, everybody=True)
            if principal.sees_everything or owned_by_admin(tx, page)
        }
        environment: Mapping[str, Declaration] = workspace.config[SERVERS]
        for name, declaration in environment.items():
            if name not in claimed:
                found[name] = McpServer(
                    id=f"{ENVIRONMENT}{name}",
                    name=name,
                    title=name,
                    path=None,
                    declaration=declaration,
                    by_admin=True,
                    by_environment=True,
                    problem=_switched_off(workspace, declaration),
                )
        for name, (plugin, declaration, problem) in brought(tx, workspace).items():
            if name not in claimed and name not in found:
                found[name] = McpServer(
                    id=id_of(principal.user_id, plugin, name),
                    name=name,
                    title=name,
                    path=None,
                    declaration=declaration,
                    by_admin=True,
                    plugin=plugin,
                    problem=problem,
                )
    pages = configuration.of(tx, KIND, owner_id=principal.user_id, everybody=principal.sees_everything)
    for page in pages:
        found[page.name] = _of_page(tx, workspace, principal, page)
    return found


def _of_page(tx: ReadTx, workspace: Workspace, principal: Principal, page: Configured[Declaration]) -> McpServer:
    by_admin = principal.sees_everything or owned_by_admin(tx, page)
    problem = _switched_off(workspace, page.value)
    if page.value.command and not by_admin:
        problem = "Only an admin's page may name a program."
    elif not by_admin and any(name != f"mcp.{page.name}" for name in page.value.capabilities):
        problem = f"Only an admin's page may name another credential than mcp.{page.name}."
    if holds_home(workspace, page.value):
        problem = "Its folders hold the home of svc itself, or lie in it. No program is let in there."
    if not NAME.fullmatch(page.name):
        problem = "Its page has a name that no server may have: small letters, digits, - and _, 40 at most."
    return McpServer(
        id=page.page_id,
        name=page.name,
        title=page.title,
        path=page.path,
        declaration=page.value,
        by_admin=by_admin,
        problem=problem,
    )


def holds_home(workspace: Workspace, declaration: Declaration) -> bool:
    home = workspace.home.path
    named = [Path(path) for path in (*declaration.folders.read, *declaration.folders.write)]
    return any(path.is_relative_to(home) or home.is_relative_to(path) for path in named)


def _switched_off(workspace: Workspace, declaration: Declaration) -> str:
    if declaration.command and not is_on(workspace.config, STDIO_MCP):
        return "This instance starts no programs of others."
    return ""


def server_of(tx: ReadTx, workspace: Workspace, principal: Principal, name: str) -> McpServer:
    """Raises 404."""
    found = servers_of(tx, workspace, principal).get(name)
    if found is None:
        raise NotFound("There is no such MCP server of yours.")
    return found


def agreed_server(tx: ReadTx, workspace: Workspace, principal: Principal, name: str) -> McpServer | None:
    """The server, if a person agreed to it as it is declared now; else ``None``."""
    found = servers_of(tx, workspace, principal).get(name)
    if found is None or found.problem:
        return None
    agreed = tx.value("select launch from mcp_servers where id = :id", id=found.id)
    return found if agreed == found.declaration.launch else None


def is_admin(tx: ReadTx, principal: Principal) -> bool:
    """Whether the principal is an admin, or the run of an admin (a run itself never acts as one)."""
    if principal.is_admin or principal.sees_everything:
        return True
    return principal.user_id is not None and _is_admins(tx, principal.user_id)


def admins(tx: ReadTx) -> list[str]:
    """Their ids."""
    return [row[0] for row in tx.all("select id from users where role = 'admin'")]


def owned_by_admin(tx: ReadTx, page: Configured[Declaration]) -> bool:
    return page.owner_id is not None and _is_admins(tx, page.owner_id)


def _is_admins(tx: ReadTx, user_id: str) -> bool:
    return tx.value("select 1 from users where id = :id and role = 'admin'", id=user_id) is not None
