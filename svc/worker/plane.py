"""The worker plane as it runs: its workspace, its subsystems and its control port, alone or beside the rest."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Final

from svc.clock import Clock
from svc.config import AnySetting, Config
from svc.doors import Internal
from svc.log import Log
from svc.nursery import Root, Subsystem
from svc.principal import Principal
from svc.protocol import Link, Request
from svc.settings import CORE_SETTINGS, DRAIN_S
from svc.switches import SWITCH_SETTINGS
from svc.worker.executor import Executor
from svc.worker.rows import WorkerRows
from svc.workspace import ScrubbedContext, ScrubbedWorkspace

PASSED_ON: Final = frozenset(
    {
        *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SSL_CERT_FILE", "VIRTUAL_ENV"),
        *("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"),
        "__CF_USER_TEXT_ENCODING",  # macOS gives it to every process
    }
)
"""Variables of a worker's environment that are no settings. All others may be anybody's secrets."""


def known_settings(halves: Iterable[WorkerRows]) -> tuple[AnySetting, ...]:
    """What the worker plane may ask for, wherever it runs."""
    own = tuple(setting for half in halves for setting in half.settings)
    every: tuple[AnySetting, ...] = (*CORE_SETTINGS, *SWITCH_SETTINGS, *own)
    return tuple(setting for setting in every if not setting.secret)


def scrubbed_workspace(config: Config, *, halves: Iterable[WorkerRows], clock: Clock, log: Log) -> ScrubbedWorkspace:
    """Whatever ``config`` holds, this one holds no secret. It gets nothing else of the caller's."""
    rng = random.Random()  # noqa: S311  spreads pauses, guards nothing
    scrubbed = config.scrubbed(known_settings(halves))
    return ScrubbedWorkspace(config=scrubbed, clock=clock, rng=rng, log=log, root=Root(log=log, rng=rng))


async def worker_subsystems(
    workspace: ScrubbedWorkspace, halves: Sequence[WorkerRows], *, broker: Link, control_url: str
) -> list[Subsystem]:
    """What the rows of ``halves`` run there, in their order. ``broker`` leads to the trusted plane, which finds this
    one at ``control_url``."""
    executor = Executor(
        workflows={row.name: row for half in halves for row in half.workflows},
        link=broker,
        control_url=control_url,
        clock=workspace.clock,
        log=workspace.log,
    )
    workspace.provide(executor)
    for half in halves:
        if half.build:
            half.build(workspace)
    subsystems = [Subsystem(name="executor", run=executor.run, drain_s=float(workspace.config[DRAIN_S]))]
    for half in halves:
        if half.subsystems:
            subsystems += await half.subsystems(workspace)
    return subsystems


def control_listener(workspace: ScrubbedWorkspace, halves: Iterable[WorkerRows]) -> Internal[ScrubbedContext]:
    """How the trusted plane reaches this one: by a port, where the worker is a process of its own."""

    def context(request: Request, principal: Principal | None) -> ScrubbedContext:
        return ScrubbedContext(workspace=workspace, request_id=request.id)

    return Internal(
        name="worker",
        rows=[row for half in halves for row in half.routes],
        context=context,
        log=workspace.log,
        clock=workspace.clock,
    )
