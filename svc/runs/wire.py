"""Runs and approvals on the wire."""

from __future__ import annotations

from typing import Annotated

import msgspec

from svc.protocol import Wire
from svc.runs.model import MAX_KEY_CHARS, MAX_NAME_CHARS, StepState
from svc.runs.states import RunState
from svc.workflow import Json, StepKind

Id = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARS)]


class ErrorOut(Wire, frozen=True):
    type: str
    message: str


class Usage(Wire, frozen=True):
    """``None``: the vendor did not report it."""

    input_tokens: int | None
    output_tokens: int | None


class Progress(Wire, frozen=True):
    done: int
    total: int


class RunOut(Wire, frozen=True):
    """``due_at``: when a waiting run continues by itself. ``owner`` is a user id. ``mine``: the caller may read its
    contents.
    """

    id: str
    workflow: str
    title: str
    state: RunState
    owner: str | None
    mine: bool
    created_at: str
    started_at: str | None
    ended_at: str | None
    due_at: str | None
    parent_id: str | None
    progress: Progress | None


class StepOut(Wire, frozen=True):
    """``child_id``: the run that a step of the kind ``child`` waits for.

    ``input_bytes``, ``output_bytes``: where a run is shown with all its steps, long values are cut. Then the value is a
    text, the beginning of its JSON, and this is the size of the whole value. ``runs.step`` returns the whole value, and
    the ``card`` of a call that a person was asked about. ``changed``: they changed it before they approved it; then the
    card shows the changed call.
    """

    id: str
    parent_id: str | None
    name: str
    kind: StepKind
    state: StepState
    attempts: int
    started_at: str
    ended_at: str | None
    due_at: str | None
    input: msgspec.Raw
    output: msgspec.Raw
    input_bytes: int | None
    output_bytes: int | None
    error: ErrorOut | None
    child_id: str | None
    changed: bool
    card: msgspec.Raw


class Ancestor(Wire, frozen=True):
    id: str
    title: str


class RunDetail(RunOut, frozen=True):
    """``ancestors``: the runs above it, the outermost first."""

    error: ErrorOut | None
    usage: Usage
    input: msgspec.Raw
    output: msgspec.Raw
    ancestors: tuple[Ancestor, ...]
    children: tuple[RunOut, ...]
    steps: tuple[StepOut, ...]


class ListInput(Wire, frozen=True):
    state: RunState | None = None
    workflow: Id | None = None
    cursor: Annotated[str, msgspec.Meta(max_length=200)] | None = None


class RunsOut(Wire, frozen=True):
    runs: tuple[RunOut, ...]
    next_cursor: str | None


class IdInput(Wire, frozen=True):
    id: Id


class RetryFailedInput(Wire, frozen=True):
    """``workflow``: only its runs."""

    workflow: Id | None = None


class RetriedOut(Wire, frozen=True):
    """``more``: there were more failed runs than are retried at once."""

    retried: int
    more: bool


class StepIdInput(Wire, frozen=True):
    """``id``: the id of the run."""

    id: Id
    step_id: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_KEY_CHARS)]


class ApprovalOut(Wire, frozen=True):
    """``step_id``: the step of the run that waits for the decision.

    ``card``: rows of ``{label, text, marks}``, drawn from exactly this input; null where the tool draws none.
    """

    id: str
    run_id: str
    step_id: str
    tool: str
    summary: str
    input: msgspec.Raw
    requested_at: str
    expires_at: str
    card: msgspec.Raw


class DecideInput(Wire, frozen=True):
    """``input`` replaces what the run asked for."""

    id: Id
    approve: bool
    input: Json | msgspec.UnsetType = msgspec.UNSET
