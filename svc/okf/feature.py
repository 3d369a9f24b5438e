"""The rows that the files of pages contribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.feature import Feature
from svc.job import Job
from svc.nursery import Subsystem
from svc.okf.checks import CHECKS
from svc.okf.invariants import INVARIANTS
from svc.okf.migrations import MIGRATIONS
from svc.okf.procedures import PROCEDURES
from svc.okf.snapshot_settings import SETTINGS, SNAPSHOT_BIN, SNAPSHOT_REPOSITORY
from svc.okf.snapshots import Snapshots
from svc.switches import OKF_WATCHER, is_on
from svc.workspace import Workspace

SNAPSHOT_LOOK_S: Final = 900.0


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


def _build(workspace: Workspace) -> None:
    workspace.provide(
        Snapshots(
            store=workspace.store,
            clock=workspace.clock,
            log=workspace.log,
            home=workspace.home.path,
            repository=workspace.config[SNAPSHOT_REPOSITORY] if is_on(workspace.config, OKF_WATCHER) else None,
            program=workspace.config[SNAPSHOT_BIN],
            environ=workspace.config.environ,
        )
    )


async def _snapshot(workspace: Workspace) -> None:
    await workspace.service(Snapshots).run_due()


FEATURE = Feature(
    name="okf",
    summary="Pages are also Markdown files in the home, both ways.",
    settings=SETTINGS,
    migrations=MIGRATIONS,
    tables=("okf_queue", "okf_files", "okf_troubles"),
    invariants=INVARIANTS,
    checks=CHECKS,
    procedures=PROCEDURES,
    jobs=(
        Job(
            name="okf-snapshot",
            summary="Makes a snapshot of the files of pages each night.",
            run=_snapshot,
            every_s=SNAPSHOT_LOOK_S,
        ),
    ),
    build=_build,
    subsystems=_subsystems,
)
