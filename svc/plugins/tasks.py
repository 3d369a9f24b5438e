"""The loop of plugins: installs what is wanted, at boot, when the repository's list changes, and on request."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import trio

from svc.nursery import Child, Subsystem, open_task_group
from svc.plugins.actions import PINNED, TOPIC
from svc.plugins.service import Plugins
from svc.store import Overflowed
from svc.workspace import Workspace

MAX_ROWS_BEHIND: Final = 1_000
MAX_BYTES_BEHIND: Final = 1024 * 1024


async def subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    plugins = workspace.service(Plugins)

    async def run(child: Child) -> None:
        child.started()  # the installed set serves already
        async with open_task_group() as nursery:
            await nursery.start(_hear_of_pins, workspace, plugins)
            await workspace.root.started.wait()  # by then a followed repository has pinned its list
            while True:
                pause_s = await plugins.reconcile()
                await plugins.wake.wait(at_most_s=math.inf if pause_s is None else pause_s)

    return [Subsystem(name="plugins", run=run, independent=True)]


async def _hear_of_pins(
    workspace: Workspace, plugins: Plugins, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Wake the loop when the feature that follows a repository has pinned another list."""
    while True:
        with workspace.store.outbox.subscribe(limit=MAX_ROWS_BEHIND, limit_bytes=MAX_BYTES_BEHIND) as subscription:
            task_status.started()
            task_status = trio.TASK_STATUS_IGNORED
            with suppress(Overflowed):
                while True:
                    rows = await subscription.receive()
                    if any((row.topic, row.kind) == (TOPIC, PINNED) for row in rows):
                        plugins.wake.call()
        plugins.wake.call()  # one of the missed news may have been a pin
