"""The rows that search by meaning adds to the feature tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from svc.feature import Feature
from svc.meaning import queue
from svc.meaning.calls import CALLS
from svc.meaning.finding import Finder
from svc.meaning.following import CONSUMER
from svc.meaning.migrations import MIGRATIONS
from svc.meaning.procedures import PROCEDURES
from svc.meaning.tasks import Embedder
from svc.nursery import Subsystem
from svc.store import Following
from svc.worker.meaning import ROWS as WORKER
from svc.workspace import Workspace


def _build(workspace: Workspace) -> None:
    follow = partial(workspace.service(Following).catch_up, CONSUMER.name)
    workspace.provide(Embedder(workspace=workspace, follow=follow))
    workspace.provide(Finder(workspace=workspace))


async def _subsystems(workspace: Workspace) -> Sequence[Subsystem]:
    return [Subsystem(name="meaning", run=workspace.service(Embedder).run)]


FEATURE = Feature(
    name="meaning",
    summary="Search by meaning, over mail and pages.",
    migrations=MIGRATIONS,
    tables=("meaning_people", "meaning_vectors", "meaning_queue", "meaning_faults"),
    procedures=PROCEDURES,
    consumers=(CONSUMER,),
    calls=CALLS,
    erases=(queue.erase,),
    claim=queue.hand_over,
    worker=WORKER,
    build=_build,
    subsystems=_subsystems,
)
