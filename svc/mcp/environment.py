"""Servers of ``SVC_MCP_SERVERS``: the person who sets the environment agrees to start them, and to the tools they have
at first.

svc looks at each server until one look has succeeded, and again when its command changes. Later changes of its tools
wait for an admin.
"""

from __future__ import annotations

import trio

from svc.mcp import pinned
from svc.mcp.servers import servers_of
from svc.nursery import Child
from svc.principal import Principal
from svc.runs import Dispatcher
from svc.store import Tx
from svc.workspace import Workspace


async def connect_environment(workspace: Workspace, child: Child) -> None:
    if await workspace.store.write(_connect, workspace):
        workspace.service(Dispatcher).wake.call()
    child.started()
    await trio.sleep_forever()


def _connect(tx: Tx, workspace: Workspace) -> int:
    """Look at them as the first admin; before the claim as the unclaimed principal, which is any person at this
    machine.
    """
    user_id = tx.value("select id from users where role = 'admin' order by created_at, id limit 1")
    admin = Principal(user_id=user_id, device_id="system:mcp", is_admin=True, via="session" if user_id else "unclaimed")
    count = 0
    for server in servers_of(tx, workspace, admin).values():
        if not server.by_environment or server.problem:
            continue
        known = pinned.kept(tx, server.id)
        if known is None or known.looked_at is None or known.launch != server.declaration.launch:
            pinned.connect(tx, server, launch=server.declaration.launch, user_id=user_id)
            count += 1
    return count
