"""The feature rows of the export."""

from __future__ import annotations

from collections.abc import Sequence

from svc.export.commands import COMMANDS
from svc.export.downloads import Downloads
from svc.export.routes import ROUTES
from svc.feature import Feature
from svc.nursery import Subsystem
from svc.workspace import Workspace


def _build(workspace: Workspace) -> None:
    workspace.provide(
        Downloads(
            store=workspace.store,
            threads=workspace.threads,
            log=workspace.log,
            spool=workspace.home.spool / "export",
        )
    )


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    return [Subsystem(name="export", run=workspace.service(Downloads).run, independent=True)]


FEATURE = Feature(
    name="export",
    summary="Everything in open formats, out and into an empty home.",
    routes=ROUTES,
    commands=COMMANDS,
    build=_build,
    subsystems=_subsystems,
)
