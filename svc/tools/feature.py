"""The rows that tools add to the feature tables."""

from __future__ import annotations

from collections.abc import Sequence

from svc.configuring import Configuration
from svc.feature import Feature
from svc.nursery import Subsystem
from svc.tools.calls import CALLS
from svc.tools.migrations import MIGRATIONS
from svc.tools.procedures import PROCEDURES
from svc.tools.table import Tools
from svc.tools.taint import unvouched
from svc.tools.tasks import Doing
from svc.worker.tools import ROWS as WORKER
from svc.workspace import Workspace


def _build(workspace: Workspace) -> None:
    workspace.provide(Tools(workspace.config))
    workspace.provide(Doing(workspace=workspace))
    workspace.service(Configuration).of_others = unvouched


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    return [Subsystem(name="tools", run=workspace.service(Doing).run)]


FEATURE = Feature(
    name="tools",
    summary="What agents and MCP clients may do, and when a person is asked.",
    migrations=MIGRATIONS,
    tables=("run_tools", "run_trust", "page_trust", "page_vouched", "tool_calls"),
    procedures=PROCEDURES,
    calls=CALLS,
    build=_build,
    subsystems=_subsystems,
    worker=WORKER,
)
