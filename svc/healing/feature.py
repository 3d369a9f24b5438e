"""The rows that healing contributes."""

from __future__ import annotations

from collections.abc import Sequence

from svc.feature import Feature
from svc.healing.checks import CHECKS
from svc.healing.settings import CHECK_RATE, SETTINGS
from svc.healing.tasks import Healer
from svc.nursery import Subsystem
from svc.workspace import Workspace


def _build(workspace: Workspace) -> None:
    workspace.provide(
        Healer(
            store=workspace.store,
            blobs=workspace.blobs,
            clock=workspace.clock,
            threads=workspace.threads,
            log=workspace.log,
            references=[row for feature in workspace.features for row in feature.invariants if row.yields == "blobs"],
            rate=workspace.config[CHECK_RATE],
        )
    )


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    return [Subsystem(name="healing", run=workspace.service(Healer).run, independent=True)]


FEATURE = Feature(
    name="healing",
    summary="Finds and mends damaged blobs.",
    checks=CHECKS,
    settings=SETTINGS,
    build=_build,
    subsystems=_subsystems,
)
