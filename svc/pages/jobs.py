"""The scheduled job of pages: deletes what has been in the trash long enough."""

from __future__ import annotations

from typing import Final

from svc.clock import HOUR_MS, Millis
from svc.job import Job
from svc.pages import trash
from svc.workspace import Workspace


async def _purge(workspace: Workspace) -> Millis | None:
    while await workspace.store.write(trash.purge) >= trash.PURGED_AT_ONCE:
        pass
    return await workspace.store.read(trash.next_purge)


JOB: Final = Job(
    name="page-trash",
    summary="Deletes for good what has lain in the pages' trash for 30 days.",
    run=_purge,
    every_s=HOUR_MS / 1_000,
)
