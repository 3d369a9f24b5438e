"""The form of vectors: the model, the number of dimensions, and the way texts are cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from svc.meaning.texts import CUT
from svc.meaning.vectors import MISSING, has_numpy
from svc.models import Models
from svc.store import ReadTx
from svc.workspace import Workspace

DIMENSIONS: Final = 512
"""For vendor B's models, which are made to be shortened: a third of the space with hardly any loss."""
_CAN_BE_CUT: Final = "text-embedding-3"


@dataclass(frozen=True)
class Form:
    """``dimensions``: ``None`` for the model's own number."""

    model: str
    dimensions: int | None

    @property
    def name(self) -> str:
        return f"{self.model}:{self.dimensions or 0}:{CUT}"


def form_named(name: str) -> Form:
    """The inverse of :attr:`Form.name`. The model's name may contain colons."""
    model, dimensions, _ = name.rsplit(":", 2)
    return Form(model, int(dimensions) or None)


def form_of(workspace: Workspace) -> Form:
    model = workspace.service(Models).embedding_name
    return Form(model, DIMENSIONS if model.startswith(_CAN_BE_CUT) else None)


def problem(workspace: Workspace, tx: ReadTx) -> str:
    """Why vectors can't be made; empty if they can."""
    if not has_numpy():
        return MISSING
    models = workspace.service(Models)
    if not models.problem(tx, f"b/{models.embedding_name}"):
        return ""
    return (
        "No model can be asked for vectors: there is no credential llm.b. Set it under Settings, Credentials, or point "
        "SVC_LLM_B_URL at a server of your own and SVC_EMBEDDING_MODEL at its model for embeddings."
    )
