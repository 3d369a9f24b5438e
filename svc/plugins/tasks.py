"""The loop of plugins: installs what is wanted, at boot, when the repository's list changes, and on request."""

from __future__ import annotations

import math
from collections.abc import Sequence

from svc.nursery import Child, Subsystem, open_task_group
from svc.plugins.actions import PINNED, TOPIC
from svc.plugins.service import Plugins
from svc.store import OutboxRow
from svc.workspace import Workspace


async def subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    plugins = workspace.service(Plugins)

    async def run(child: Child) -> None:
        child.started()  # the installed set serves already
        async with open_task_group() as nursery:
            nursery.start_soon(workspace.store.outbox.wake_on, _is_pin, plugins.wake.call)
            await workspace.root.started.wait()  # by then a followed repository has pinned its list
            pause_s: float | None = None
            while True:
                await plugins.wake.wait(at_most_s=math.inf if pause_s is None else pause_s)
                pause_s = await plugins.reconcile()

    return [Subsystem(name="plugins", run=run, independent=True)]


def _is_pin(row: OutboxRow) -> bool:
    """Whether the feature that follows a repository has pinned another list."""
    return (row.topic, row.kind) == (TOPIC, PINNED)
