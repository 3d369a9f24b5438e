"""Runs the worker plane beside the trusted one in one process, which is the default.

Both ways are the same: a scrubbed workspace and the features' worker halves (:mod:`svc.worker`), under a root of its
own, so that nothing of the trusted plane depends on it. Owns the in-memory connections between the two.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

import trio

from svc.doors import LOOPBACK, Internal
from svc.log import Log
from svc.nursery import Child, Root, Subsystem
from svc.protocol import DEFAULT_LIMITS, Application, Connect, Drain, Idle, Link, serve_connection, stream_pair
from svc.runs import IN_MEMORY, Dispatcher
from svc.settings import DRAIN_S
from svc.worker.plane import control_listener, scrubbed_workspace, worker_subsystems
from svc.workspace import Workspace

_LIMITS: Final = replace(DEFAULT_LIMITS, drain_idle_s=0.0)  # nothing is on its way in memory


def worker_beside(trusted: Workspace, *, log: Log) -> Subsystem:
    """The worker plane as one subsystem of the trusted plane. After a crash it is rebuilt as a whole.

    The two communicate as two processes do, over connections in memory: the same routes, tokens and checks.
    """
    drain_s = float(trusted.config[DRAIN_S])

    async def run(child: Child) -> None:
        halves = tuple(feature.worker for feature in trusted.features)
        workspace = scrubbed_workspace(trusted.config, halves=halves, clock=trusted.clock, log=log)
        internal, dispatcher = trusted.service(Internal), trusted.service(Dispatcher)
        control = control_listener(workspace, halves)
        control.trust(dispatcher.token)
        drain, idle = Drain(), Idle()
        child.work.start_soon(idle.run, _LIMITS, drain)

        def through_memory(application: Application[Any]) -> Connect:
            async def connect() -> trio.abc.Stream:
                if drain():
                    raise trio.ClosedResourceError("this plane has ended")
                ours, theirs = stream_pair()
                serve = partial(serve_connection, log=log, peer=LOOPBACK, drain=drain, idle=idle, limits=_LIMITS)
                child.work.start_soon(serve, theirs, application)
                return ours

            return connect

        dispatcher.in_memory = through_memory(control.build_application())
        broker = Link(
            connect=through_memory(internal.build_application()),
            authority=f"{LOOPBACK}:{internal.port}",
            token=dispatcher.token,
        )
        subsystems = await worker_subsystems(workspace, halves, broker=broker, control_url=f"{IN_MEMORY}worker")
        child.work.start_soon(_to_the_end, workspace.root, subsystems, drain)
        child.work.start_soon(_pass_on_drain, child, workspace.root)
        child.started()
        await trio.sleep_forever()

    return Subsystem(name="worker", run=run, drain_s=drain_s)


async def _to_the_end(root: Root, subsystems: list[Subsystem], drain: Drain) -> None:
    """Run the worker plane, and close its connections after all of it has ended."""
    try:
        await root.run(subsystems)
    finally:
        drain.begin()


async def _pass_on_drain(child: Child, root: Root) -> None:
    await child.wait_draining()
    root.drain("the trusted plane drains")
