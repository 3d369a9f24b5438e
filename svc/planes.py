"""The worker plane: what works without database, blobs, keys and secrets, in a process of its own or beside the rest.

Both ways it is the same: a :class:`ScrubbedWorkspace` and the features' :class:`WorkerRows`, under a root of its own,
so that nothing of the trusted plane hangs on it. Owns which subsystems that makes.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

import trio

from svc.clock import Clock
from svc.config import Config
from svc.feature import Feature
from svc.log import Log
from svc.nursery import Child, Root, Subsystem
from svc.principal import Principal
from svc.protocol import Request
from svc.scheduler import Scheduler
from svc.settings import DRAIN_S
from svc.surface import Internal
from svc.workspace import ScrubbedContext, ScrubbedWorkspace


def scrubbed_workspace(config: Config, *, clock: Clock, log: Log) -> ScrubbedWorkspace:
    """Whatever ``config`` holds, this one holds no secret. It gets nothing else of the caller's."""
    rng = random.Random()  # noqa: S311  spreads pauses, guards nothing
    return ScrubbedWorkspace(config=config.scrubbed(), clock=clock, rng=rng, log=log, root=Root(log=log, rng=rng))


async def worker_subsystems(workspace: ScrubbedWorkspace, features: Iterable[Feature]) -> list[Subsystem]:
    """What the rows of ``features`` run there, in their order."""
    rows = [feature.worker for feature in features]
    scheduler = Scheduler(clock=workspace.clock, context=workspace)
    workspace.provide(scheduler)
    for row in rows:
        for job in row.jobs:
            scheduler.add(job)
        if row.build:
            row.build(workspace)
    subsystems = [Subsystem(name="scheduler", run=scheduler.run)]
    for row in rows:
        if row.subsystems:
            subsystems += await row.subsystems(workspace)
    return subsystems


def control_listener(workspace: ScrubbedWorkspace, features: Iterable[Feature]) -> Internal[ScrubbedContext]:
    """The port of a worker that is a process of its own: how the web plane reaches it."""

    def context(request: Request, principal: Principal | None) -> ScrubbedContext:
        return ScrubbedContext(workspace=workspace, request_id=request.id)

    return Internal(
        name="worker",
        rows=[row for feature in features for row in feature.worker.routes],
        context=context,
        log=workspace.log,
        clock=workspace.clock,
    )


def worker_beside(config: Config, *, clock: Clock, log: Log, features: Iterable[Feature]) -> Subsystem:
    """The worker plane as one subsystem of the trusted one. After a crash it is built anew, whole."""

    async def run(child: Child) -> None:
        workspace = scrubbed_workspace(config, clock=clock, log=log)
        subsystems = await worker_subsystems(workspace, features)
        await child.work.start(workspace.root.run, subsystems)
        child.work.start_soon(_pass_on_drain, child, workspace.root)
        child.started()
        await trio.sleep_forever()

    return Subsystem(name="worker", run=run, drain_s=float(config[DRAIN_S]))


async def _pass_on_drain(child: Child, root: Root) -> None:
    await child.wait_draining()
    root.drain("the trusted plane drains")
