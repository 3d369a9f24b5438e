"""The rows that the scheduler contributes."""

from __future__ import annotations

from collections.abc import Sequence

from svc.feature import Feature
from svc.nursery import Subsystem
from svc.scheduler.checks import CHECKS
from svc.scheduler.tasks import Scheduler
from svc.workspace import Workspace


def _build(workspace: Workspace) -> None:
    scheduler = Scheduler(clock=workspace.clock, context=workspace)
    for feature in workspace.features:
        for job in feature.jobs:
            scheduler.add(job)
    workspace.provide(scheduler)


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    return [Subsystem(name="scheduler", run=workspace.service(Scheduler).run)]


FEATURE = Feature(
    name="scheduler",
    summary="Does what is due: scheduled mail and everything else that waits for its time.",
    checks=CHECKS,
    build=_build,
    subsystems=_subsystems,
)
