"""The rows that agents add to the feature tables."""

from __future__ import annotations

from svc.agents.beginning import TYPES, follow, keep_schedules
from svc.agents.calls import CALLS, ROUTES
from svc.agents.definitions import AGENTS
from svc.agents.migrations import MIGRATIONS
from svc.agents.procedures import PROCEDURES
from svc.configuring import Configuration
from svc.feature import Feature
from svc.job import Job
from svc.store import Consumer
from svc.worker.agents import ROWS as WORKER
from svc.workspace import Workspace

LOOK_S = 30.0


def _build(workspace: Workspace) -> None:
    workspace.service(Configuration).add(AGENTS)


FEATURE = Feature(
    name="agents",
    summary="Agents: pages that say what a model does with the tools, begun by a person, a time or what happens.",
    migrations=MIGRATIONS,
    tables=("agent_runs", "agent_said", "agent_schedules"),
    routes=ROUTES,
    procedures=PROCEDURES,
    calls=CALLS,
    consumers=(Consumer(name="agents", types=TYPES, summary="Begins the agents that wait for it.", handle=follow),),
    jobs=(Job(name="agents", summary="Begins agents whose time has come.", run=keep_schedules, every_s=LOOK_S),),
    build=_build,
    worker=WORKER,
)
