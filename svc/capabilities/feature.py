"""The feature rows of capabilities."""

from __future__ import annotations

from svc.capabilities import actions, escrow
from svc.capabilities.broker import Broker
from svc.capabilities.catalogue import CAPABILITIES
from svc.capabilities.checks import CHECKS
from svc.capabilities.commands import COMMANDS
from svc.capabilities.master_key import MasterKey
from svc.capabilities.migrations import MIGRATIONS
from svc.capabilities.procedures import PROCEDURES
from svc.capabilities.rotation import rewrap_all
from svc.capabilities.seeding import seed
from svc.capabilities.settings import SETTINGS
from svc.clock import HOUR_MS, SECOND_MS
from svc.feature import Feature
from svc.job import Job
from svc.workspace import Workspace


def _build(workspace: Workspace) -> None:
    workspace.provide(MasterKey(broker=workspace.service(Broker), home=workspace.home.id))


async def _boot(workspace: Workspace) -> None:
    broker = workspace.service(Broker)
    rewrap_all(workspace.store, broker.secrets)
    seeded = workspace.store.write_now(seed, broker.secrets, workspace.config, broker.capabilities.values())
    if seeded:
        workspace.log.info("capabilities.seeded", names=seeded)


async def _prune(workspace: Workspace) -> None:
    while await workspace.store.write(actions.prune) >= actions.PRUNE_ROWS:
        pass


FEATURE = Feature(
    name="capabilities",
    summary="The credentials of the workspace, and the one door to them.",
    settings=(*SETTINGS, *escrow.SETTINGS),
    rules=escrow.RULES,
    migrations=MIGRATIONS,
    tables=("capability_audit",),
    procedures=PROCEDURES,
    capabilities=CAPABILITIES,
    checks=CHECKS,
    build=_build,
    boot=_boot,
    jobs=(
        Job(
            name="capability-audit",
            summary="Forgets what is old in the audit of credentials.",
            run=_prune,
            every_s=HOUR_MS / SECOND_MS,
        ),
    ),
    commands=COMMANDS,
)
