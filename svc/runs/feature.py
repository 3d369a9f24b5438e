"""The rows that runs contribute."""

from __future__ import annotations

from svc.clock import DAY_MS
from svc.feature import Feature
from svc.job import Job
from svc.runs import actions
from svc.runs.migrations import MIGRATIONS
from svc.runs.states import RUN
from svc.workspace import Workspace


async def _prune(workspace: Workspace) -> None:
    while await workspace.store.write(actions.prune) >= actions.PRUNE_ROWS:
        pass


FEATURE = Feature(
    name="runs",
    summary="Work with steps that survives a crash.",
    migrations=MIGRATIONS,
    tables=("runs", "run_steps", "run_attempts", "approvals"),
    machines=(RUN,),
    claim=actions.hand_over,
    jobs=(Job(name="runs", summary="Forgets runs that ended long ago.", run=_prune, every_s=DAY_MS / 1_000),),
)
