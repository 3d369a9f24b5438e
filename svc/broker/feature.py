"""The rows that the broker's routes contribute."""

from __future__ import annotations

from collections.abc import Sequence

from svc.broker import available, egress, llm, mcp
from svc.broker.in_flight import InFlight
from svc.broker.mcp_servers import McpServers
from svc.broker.outside import Outside
from svc.broker.vendors import Vendors
from svc.feature import Feature
from svc.nursery import Subsystem
from svc.protocol.pinned import PinnedEgress
from svc.workspace import Workspace


def _build(workspace: Workspace) -> None:
    workspace.provide(InFlight())
    workspace.provide(McpServers())
    workspace.provide(Outside(PinnedEgress()))
    workspace.provide(Vendors(workspace))


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    return [Subsystem(name="broker", run=workspace.service(InFlight).run)]


FEATURE = Feature(
    name="broker",
    summary="How a run reaches outside services: with credentials put in that it never sees.",
    routes=(*available.ROUTES, *llm.ROUTES, *mcp.ROUTES, *egress.ROUTES),
    build=_build,
    subsystems=_subsystems,
)
