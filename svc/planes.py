"""The worker plane: what works without database, blobs, keys and secrets, in a process of its own or beside the rest.

Both ways it is the same: a :class:`ScrubbedWorkspace` and the features' :class:`WorkerRows`, under a root of its own,
so that nothing of the trusted plane hangs on it. Owns which subsystems that makes.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import trio

from svc.clock import Clock
from svc.config import Config
from svc.feature import Feature
from svc.log import Log
from svc.nursery import Child, Root, Subsystem
from svc.principal import Principal
from svc.protocol import Application, Connect, Drain, Link, Request, serve_connection, stream_pair
from svc.runs import IN_MEMORY, Dispatcher, Executor
from svc.scheduler import Scheduler
from svc.settings import DRAIN_S
from svc.surface import LOOPBACK, Internal
from svc.workspace import ScrubbedContext, ScrubbedWorkspace, Workspace


def scrubbed_workspace(config: Config, *, clock: Clock, log: Log) -> ScrubbedWorkspace:
    """Whatever ``config`` holds, this one holds no secret. It gets nothing else of the caller's."""
    rng = random.Random()  # noqa: S311  spreads pauses, guards nothing
    return ScrubbedWorkspace(config=config.scrubbed(), clock=clock, rng=rng, log=log, root=Root(log=log, rng=rng))


async def worker_subsystems(
    workspace: ScrubbedWorkspace, features: Sequence[Feature], *, broker: Link, control_url: str
) -> list[Subsystem]:
    """What the rows of ``features`` run there, in their order. ``broker`` leads to the trusted plane, which finds this
    one at ``control_url``."""
    rows = [feature.worker for feature in features]
    executor = Executor(
        workflows={row.name: row for feature in features for row in feature.workflows},
        link=broker,
        control_url=control_url,
        clock=workspace.clock,
        log=workspace.log,
    )
    workspace.provide(executor)
    scheduler = Scheduler(clock=workspace.clock, context=workspace)
    workspace.provide(scheduler)
    for row in rows:
        for job in row.jobs:
            scheduler.add(job)
        if row.build:
            row.build(workspace)
    drain_s = float(workspace.config[DRAIN_S])
    subsystems = [
        Subsystem(name="scheduler", run=scheduler.run),
        Subsystem(name="executor", run=executor.run, drain_s=drain_s),
    ]
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


def worker_beside(trusted: Workspace, *, log: Log) -> Subsystem:
    """The worker plane as one subsystem of the trusted one. After a crash it is built anew, whole.

    The two speak as two processes do, over connections in memory: the same routes, tokens and checks.
    """
    drain_s = float(trusted.config[DRAIN_S])

    async def run(child: Child) -> None:
        workspace = scrubbed_workspace(trusted.config, clock=trusted.clock, log=log)
        internal, dispatcher = trusted.service(Internal), trusted.service(Dispatcher)
        control = control_listener(workspace, trusted.features)
        control.trust(dispatcher.token)
        drain = Drain()

        def through_memory(application: Application[Any]) -> Connect:
            async def connect() -> trio.abc.Stream:
                if drain():
                    raise trio.ClosedResourceError("this plane has ended")
                ours, theirs = stream_pair()
                serve = partial(serve_connection, log=log, peer=LOOPBACK, drain=drain)
                child.work.start_soon(serve, theirs, application)
                return ours

            return connect

        dispatcher.in_memory = through_memory(control.build_application())
        broker = Link(
            connect=through_memory(internal.build_application()),
            authority=f"{LOOPBACK}:{internal.port}",
            token=dispatcher.token,
        )
        subsystems = await worker_subsystems(
            workspace, trusted.features, broker=broker, control_url=f"{IN_MEMORY}worker"
        )
        child.work.start_soon(_to_the_end, workspace.root, subsystems, drain)
        child.work.start_soon(_pass_on_drain, child, workspace.root)
        child.started()
        await trio.sleep_forever()

    return Subsystem(name="worker", run=run, drain_s=drain_s)


async def _to_the_end(root: Root, subsystems: Sequence[Subsystem], drain: Drain) -> None:
    """Its connections are closed once nothing of it runs."""
    try:
        await root.run(subsystems)
    finally:
        drain.begin()


async def _pass_on_drain(child: Child, root: Root) -> None:
    await child.wait_draining()
    root.drain("the trusted plane drains")
