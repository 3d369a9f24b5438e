"""What a worker receives about a run when it takes it: the results so far, and the state of unfinished steps."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

import msgspec

from svc.clock import Millis
from svc.protocol import Wire
from svc.workflow import Json, StepKind

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]


class Failure(Wire, frozen=True):
    type: str
    message: str


class KnownStep(Wire, frozen=True):
    """``due_at``: for a waiting step, when it is to be tried again."""

    step_id: Id
    kind: StepKind
    state: Literal["waiting", "done", "failed"]
    input_digest: str
    output: Json = None
    error: Failure | None = None
    attempts: int = 0
    due_at: Millis | None = None


class Order(Wire, frozen=True):
    """One run to take, the body of ``POST /runs``. Without ``version``: the newest."""

    run_id: Id
    workflow: str
    run_token: str
    epoch: int = 0
    version: int | None = None
    input: Json = None
    steps: list[KnownStep] = []


def input_digest(value: Json) -> str:
    """The digest of the JSON, computed as in the trusted plane."""
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()
