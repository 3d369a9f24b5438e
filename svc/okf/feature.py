"""The rows that the files of pages contribute."""

from __future__ import annotations

from collections.abc import Sequence

from svc.feature import Feature
from svc.nursery import Subsystem
from svc.okf.checks import CHECKS
from svc.okf.migrations import MIGRATIONS
from svc.okf.procedures import PROCEDURES
from svc.switches import OKF_WATCHER, is_on
from svc.workspace import Workspace


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    if not is_on(workspace.config, OKF_WATCHER):
        return []
    from svc.okf.folder import Folder
    from svc.okf.tasks import Keeper

    keeper = Keeper(
        store=workspace.store,
        clock=workspace.clock,
        threads=workspace.threads,
        log=workspace.log,
        folder=Folder(workspace.home.path / "okf"),
    )
    return [Subsystem(name="okf", run=keeper.run, independent=True)]


FEATURE = Feature(
    name="okf",
    summary="Pages are also Markdown files in the home, both ways.",
    migrations=MIGRATIONS,
    tables=("okf_queue", "okf_files", "okf_troubles"),
    checks=CHECKS,
    procedures=PROCEDURES,
    subsystems=_subsystems,
)
