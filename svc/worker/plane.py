"""Builds the worker plane: its workspace, its subsystems and its control port, alone or in the process of the trusted
plane."""

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
        "__CF_USER_TEXT_ENCODING",  # set by macOS for every process
    }
)
"""Variables of a worker's environment that are not settings. Any other variable may be a secret."""


def known_settings(halves: Iterable[WorkerRows]) -> tuple[AnySetting, ...]:
    """The settings that the worker plane may read, in any process."""
    own = tuple(setting for half in halves for setting in half.settings)
    every: tuple[AnySetting, ...] = (*CORE_SETTINGS, *SWITCH_SETTINGS, *own)
    return tuple(setting for setting in every if not setting.secret)


def scrubbed_workspace(config: Config, *, halves: Iterable[WorkerRows], clock: Clock, log: Log) -> ScrubbedWorkspace:
    """A workspace without secrets, whatever ``config`` holds. It gets nothing else from the caller."""
    rng = random.Random()  # noqa: S311  spreads pauses, guards nothing
    scrubbed = config.scrubbed(known_settings(halves))
    return ScrubbedWorkspace(config=scrubbed, clock=clock, rng=rng, log=log, root=Root(log=log, rng=rng))


async def worker_subsystems(
    workspace: ScrubbedWorkspace, halves: Sequence[WorkerRows], *, broker: Link, control_url: str
) -> list[Subsystem]:
    """The subsystems of ``halves``, in order. ``broker`` leads to the trusted plane, which reaches this plane at
    ``control_url``."""
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
    """The listener by which the trusted plane reaches this one: a port, if the worker is a process of its own."""

    def context(request: Request, principal: Principal | None) -> ScrubbedContext:
        return ScrubbedContext(workspace=workspace, request_id=request.id)

    return Internal(
        name="worker",
        rows=[row for half in halves for row in half.routes],
        context=context,
        log=workspace.log,
        clock=workspace.clock,
    )
