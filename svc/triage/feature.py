"""The rows that triage adds to the feature tables."""

from __future__ import annotations

from typing import Final

from svc.clock import DAY_MS
from svc.erase import Left
from svc.feature import Feature
from svc.job import Job
from svc.store import Tx
from svc.triage import queries
from svc.triage.calls import CALLS
from svc.triage.following import CONSUMER
from svc.triage.migrations import MIGRATIONS
from svc.triage.model import TOPIC
from svc.triage.procedures import PROCEDURES
from svc.worker.triage import ROWS as WORKER
from svc.workspace import Workspace

ROWS_A_BATCH: Final = 1_000


def _erase(tx: Tx, *, account_id: str) -> Left:
    return "more" if queries.let_go(tx, account_id, limit=ROWS_A_BATCH) else "nothing"


async def _prune(workspace: Workspace) -> None:
    await workspace.store.write(queries.prune)


FEATURE = Feature(
    name="triage",
    summary="Of what kind the mail is that comes, for who has switched it on.",
    migrations=MIGRATIONS,
    tables=("triage_people", "triage_threads", "triage_senders"),
    topics=(TOPIC,),
    procedures=PROCEDURES,
    consumers=(CONSUMER,),
    calls=CALLS,
    erases=(_erase,),
    claim=queries.hand_over,
    worker=WORKER,
    jobs=(Job(name="triage", summary="Forgets the kinds of old mail.", run=_prune, every_s=DAY_MS / 1_000),),
)
