"""The rows that models add to the feature tables."""

from __future__ import annotations

from typing import Final

from svc.capabilities import door_of
from svc.clock import DAY_MS
from svc.feature import Feature
from svc.job import Job
from svc.models import ledger
from svc.models.migrations import MIGRATIONS
from svc.models.procedures import PROCEDURES
from svc.models.service import Models
from svc.models.settings import SETTINGS
from svc.workspace import Workspace

NAME: Final = "models"


def _build(workspace: Workspace) -> None:
    workspace.provide(Models(workspace=workspace, door=door_of(workspace, NAME)))


async def _prune(workspace: Workspace) -> None:
    while await workspace.store.write(ledger.prune) >= ledger.PRUNE_ROWS:
        pass


FEATURE = Feature(
    name=NAME,
    summary="Language models: which one is asked, what it costs, and where that ends.",
    settings=SETTINGS,
    migrations=MIGRATIONS,
    tables=("model_calls", "model_ceilings", "model_run_ceilings"),
    procedures=PROCEDURES,
    uses=("llm.a", "llm.b"),
    claim=ledger.hand_over,
    jobs=(Job(name="models", summary="Forgets calls to models of long ago.", run=_prune, every_s=DAY_MS / 1_000),),
    build=_build,
)
