"""The rows that runs add to the feature tables."""

from __future__ import annotations

from collections.abc import Sequence

from svc.clock import DAY_MS
from svc.feature import Feature
from svc.job import Job
from svc.nursery import Subsystem
from svc.runs import actions
from svc.runs.checks import CHECKS
from svc.runs.dispatch import Dispatcher
from svc.runs.invariants import INVARIANTS
from svc.runs.migrations import MIGRATIONS
from svc.runs.model import TOPIC
from svc.runs.procedures import PROCEDURES
from svc.runs.routes import ROUTES
from svc.runs.states import RUN
from svc.runs.waits import CALLS
from svc.worker.executor import ROWS as WORKER
from svc.workspace import Workspace


async def _prune(workspace: Workspace) -> None:
    while await workspace.store.write(actions.prune) >= actions.PRUNE_ROWS:
        pass


def _build(workspace: Workspace) -> None:
    workspace.provide(Dispatcher(workspace=workspace))


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    return [Subsystem(name="runs", run=workspace.service(Dispatcher).run)]


FEATURE = Feature(
    name="runs",
    summary="Work with steps that survives a crash.",
    migrations=MIGRATIONS,
    tables=("runs", "run_steps", "run_attempts", "approvals"),
    machines=(RUN,),
    claim=actions.hand_over,
    checks=CHECKS,
    invariants=INVARIANTS,
    routes=ROUTES,
    procedures=PROCEDURES,
    topics=(TOPIC,),
    calls=CALLS,
    build=_build,
    subsystems=_subsystems,
    worker=WORKER,
    jobs=(Job(name="runs", summary="Forgets runs that ended long ago.", run=_prune, every_s=DAY_MS / 1_000),),
)
