"""The rows that undo contributes, and the table of the reversals of all features."""

from __future__ import annotations

from svc.clock import rfc3339
from svc.feature import Feature
from svc.protocol import Nothing, Procedure, Wire
from svc.reversal import UndoStep
from svc.undo.actions import TakenBack, hand_over
from svc.undo.actions import take_back as take_back_newest
from svc.undo.migrations import MIGRATIONS
from svc.undo.queries import Reversals, undoable
from svc.workspace import RequestContext, Workspace


class UndoStepOut(Wire, frozen=True):
    """``concerns``: the ids of the things that the step changed."""

    id: str
    kind: str
    what: str
    concerns: tuple[str, ...]
    at: str


class TakenBackOut(Wire, frozen=True):
    """``draft_id``: the draft that a held-back mail has become."""

    step: UndoStepOut | None
    draft_id: str | None


def reversals_of(workspace: Workspace) -> Reversals:
    """The reversals of all features, by kind of step."""
    return {row.kind: row for feature in workspace.features for row in feature.reversals}


def carry_on(workspace: Workspace, taken_back: TakenBack) -> None:
    """After the commit: notifies the features that have to carry on."""
    reversals_of(workspace)[taken_back.step.kind].then(workspace)


async def list_steps(context: RequestContext, wanted: Nothing) -> list[UndoStepOut]:
    reversals = reversals_of(context.workspace)
    found = await context.workspace.store.read(undoable, context.principal, reversals=reversals)
    return [_step_out(step) for step in found]


async def take_back(context: RequestContext, wanted: Nothing) -> TakenBackOut:
    reversals = reversals_of(context.workspace)
    taken_back = await context.workspace.store.write(take_back_newest, context.principal, reversals=reversals)
    if taken_back is None:
        return TakenBackOut(step=None, draft_id=None)
    carry_on(context.workspace, taken_back)
    return TakenBackOut(step=_step_out(taken_back.step), draft_id=taken_back.draft_id)


def _step_out(step: UndoStep) -> UndoStepOut:
    return UndoStepOut(id=str(step.id), kind=step.kind, what=step.what, concerns=step.concerns, at=rfc3339(step.at))


FEATURE = Feature(
    name="undo",
    summary="A person's newest steps, and taking them back.",
    migrations=MIGRATIONS,
    tables=("undo_steps",),
    claim=hand_over,
    procedures=(
        Procedure(
            name="undo.list",
            kind="query",
            access="authenticated",
            input=Nothing,
            output=list[UndoStepOut],
            call=list_steps,
            summary="The caller's steps that can be taken back, newest first.",
        ),
        Procedure(
            name="undo.takeBack",
            kind="mutation",
            access="authenticated",
            input=Nothing,
            output=TakenBackOut,
            call=take_back,
            summary="Take back the caller's newest step that can be taken back.",
        ),
    ),
)
