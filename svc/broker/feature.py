"""The rows that the broker's routes add to the feature tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.broker import available, egress, llm, mcp
from svc.broker.embedding import Embeddings
from svc.broker.in_flight import InFlight
from svc.broker.mcp_servers import McpServers
from svc.broker.outside import Outside
from svc.broker.vendors import B, Vendors
from svc.capabilities import door_of
from svc.feature import Feature
from svc.nursery import Subsystem
from svc.protocol.pinned import PinnedEgress
from svc.workspace import Workspace

NAME: Final = "broker"


def _build(workspace: Workspace) -> None:
    workspace.provide(InFlight())
    workspace.provide(McpServers())
    workspace.provide(Outside(PinnedEgress()))
    workspace.provide(Vendors(workspace))
    workspace.provide(Embeddings(workspace=workspace, door=door_of(workspace, NAME)))


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    return [Subsystem(name="broker", run=workspace.service(InFlight).run)]


FEATURE = Feature(
    name=NAME,
    summary="How a run reaches outside services: with credentials put in that it never sees.",
    routes=(*available.ROUTES, *llm.ROUTES, *mcp.ROUTES, *egress.ROUTES),
    uses=(B.capability,),
    build=_build,
    subsystems=_subsystems,
)
