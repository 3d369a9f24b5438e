"""The rows that mail rules contribute."""

from __future__ import annotations

from svc.clock import DAY_MS
from svc.configuring import Configuration
from svc.feature import Feature
from svc.job import Job
from svc.rules import acting
from svc.rules.calls import CALLS
from svc.rules.erasing import erase
from svc.rules.following import CONSUMER
from svc.rules.migrations import MIGRATIONS
from svc.rules.page import KIND
from svc.rules.procedures import PROCEDURES
from svc.worker.rules import ROWS as WORKER
from svc.workspace import Workspace


def _build(workspace: Workspace) -> None:
    workspace.service(Configuration).add(KIND)


async def _prune(workspace: Workspace) -> None:
    await workspace.store.write(acting.prune)


FEATURE = Feature(
    name="rules",
    summary="Mail rules, and the replies that they propose.",
    migrations=MIGRATIONS,
    tables=("rule_runs", "rule_acts", "rule_batches"),
    procedures=PROCEDURES,
    consumers=(CONSUMER,),
    calls=CALLS,
    erases=(erase,),
    claim=acting.hand_over,
    worker=WORKER,
    jobs=(Job(name="rules", summary="Forgets what rules did long ago.", run=_prune, every_s=DAY_MS / 1_000),),
    build=_build,
)
