"""The feature rows of the replica."""

from __future__ import annotations

from collections.abc import Sequence

from svc.feature import Feature
from svc.nursery import Subsystem
from svc.replica import rows
from svc.replica.checks import CHECKS
from svc.replica.commands import COMMANDS
from svc.replica.invariants import INVARIANTS
from svc.replica.migrations import MIGRATIONS
from svc.replica.settings import REPLICA_URL, SETTINGS
from svc.replica.target import target_of
from svc.replica.tasks import Replicator
from svc.workspace import Workspace


def _build(workspace: Workspace) -> None:
    workspace.provide(
        Replicator(
            target=target_of(workspace.config, workspace.egress),
            store=workspace.store,
            blobs=workspace.blobs,
            clock=workspace.clock,
            rng=workspace.rng,
            log=workspace.log,
            references=[row for feature in workspace.features for row in feature.invariants if row.yields == "blobs"],
        )
    )


async def _boot(workspace: Workspace) -> None:
    workspace.store.write_now(rows.begin, workspace.config[REPLICA_URL])


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    replicator = workspace.service(Replicator)
    return [] if replicator.target is None else [Subsystem(name="replica", run=replicator.run, independent=True)]


FEATURE = Feature(
    name="replica",
    summary="Every blob is also at another place.",
    settings=SETTINGS,
    migrations=MIGRATIONS,
    tables=("replica_state", "replica_blobs"),
    invariants=INVARIANTS,
    checks=CHECKS,
    commands=COMMANDS,
    build=_build,
    boot=_boot,
    subsystems=_subsystems,
)
