"""The rows that mail rules add to the feature tables."""

from __future__ import annotations

from typing import Final

from svc.clock import DAY_MS
from svc.configuring import Configuration
from svc.feature import Feature
from svc.job import Job
from svc.rules import acting, habits
from svc.rules.calls import CALLS
from svc.rules.erasing import erase
from svc.rules.following import CONSUMER, learn_habits
from svc.rules.migrations import MIGRATIONS
from svc.rules.page import KIND
from svc.rules.procedures import PROCEDURES
from svc.store import Tx
from svc.worker.rules import ROWS as WORKER
from svc.workspace import Workspace

LOOK_S: Final = 60.0


def _build(workspace: Workspace) -> None:
    workspace.service(Configuration).add(KIND)


async def _prune(workspace: Workspace) -> None:
    await workspace.store.write(acting.prune)
    await workspace.store.write(habits.prune)


def _claim(tx: Tx, user_id: str) -> None:
    acting.hand_over(tx, user_id)
    habits.hand_over(tx, user_id)


FEATURE = Feature(
    name="rules",
    summary="Mail rules, and the replies that they propose.",
    migrations=MIGRATIONS,
    tables=("rule_runs", "rule_acts", "rule_batches", "rule_habits", "rule_habits_seen", "rule_never"),
    procedures=PROCEDURES,
    consumers=(CONSUMER,),
    calls=CALLS,
    erases=(erase,),
    claim=_claim,
    worker=WORKER,
    jobs=(
        Job(name="rules", summary="Forgets what rules did long ago.", run=_prune, every_s=DAY_MS / 1_000),
        Job(name="rule-habits", summary="Learns what people do again and again.", run=learn_habits, every_s=LOOK_S),
    ),
    build=_build,
)
