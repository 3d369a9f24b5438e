"""The calls that every workflow may use: wait for a timer, a child run or a person; and note that work begins."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from svc.clock import DAY_MS, SECOND_MS
from svc.errors import Invalid, NotFound
from svc.feature import workflows_of
from svc.ids import new_id
from svc.protocol import Nothing, Wire
from svc.runs import actions, queries
from svc.runs.digests import digest
from svc.runs.model import MAX_NAME_CHARS
from svc.runs.moving import note
from svc.store import Tx
from svc.worker.terms import APPROVAL, BEGUN, CHILD, SLEEP
from svc.workflow import Call, Caller, Json, Waiting
from svc.workspace import Workspace

LONGEST_WAIT_MS: Final = 3_650 * DAY_MS
MAX_SUMMARY_CHARS: Final = 2_000
APPROVALS_TOPIC: Final = "tasks"


class SleepInput(Wire, frozen=True):
    seconds: Annotated[float, msgspec.Meta(ge=0, le=LONGEST_WAIT_MS / SECOND_MS)]


class ChildInput(Wire, frozen=True):
    workflow: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]
    input: Json = None


class ApprovalInput(Wire, frozen=True):
    """``input`` is exactly what would be done, and what the person is shown."""

    tool: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARS)]
    summary: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_SUMMARY_CHARS)]
    input: Json
    expires_s: Annotated[float, msgspec.Meta(gt=0, le=LONGEST_WAIT_MS / SECOND_MS)]


def _sleep(workspace: Workspace, tx: Tx, caller: Caller, wanted: SleepInput) -> Waiting:
    return Waiting(kind="timer", due_at=tx.now + round(wanted.seconds * SECOND_MS))


def _begin_child(workspace: Workspace, tx: Tx, caller: Caller, wanted: ChildInput) -> Waiting:
    """A child is granted what its own workflow declares, but nothing that its parent lacks."""
    workflow = workflows_of(workspace.features).get(wanted.workflow)
    if workflow is None:
        raise NotFound(f"There is no workflow {wanted.workflow}.")
    parent = queries.run(tx, caller.run_id)
    assert parent is not None, "it asks"
    beyond = sorted({*workflow.calls, *workflow.capabilities} - {*parent.calls, *parent.capabilities})
    if beyond:
        raise Invalid(f"{workflow.name} uses {beyond[0]}, which {parent.workflow} was not granted.")
    actions.begin(
        tx,
        parent.user_id,
        workflow,
        wanted.input,
        parent=actions.Parent(run_id=caller.run_id, key=caller.key),
    )
    return Waiting(kind="child")


def _note_begun(workspace: Workspace, tx: Tx, caller: Caller, wanted: Nothing) -> Json:
    """Only records that work begins."""
    return None


def _ask_a_person(workspace: Workspace, tx: Tx, caller: Caller, wanted: ApprovalInput) -> Waiting:
    return ask_person(
        tx, caller, tool=wanted.tool, summary=wanted.summary, input=wanted.input, expires_s=wanted.expires_s
    )


def ask_person(
    tx: Tx, caller: Caller, *, tool: str, summary: str, input: Json, expires_s: float, card: Json = None
) -> Waiting:
    """Let a person decide on exactly this ``input``. ``card``: the rows that show it, if the tool draws any."""
    row = queries.run(tx, caller.run_id)
    assert row is not None, "it asks"
    text = actions.encoded(input)
    expires_at = tx.now + round(expires_s * SECOND_MS)
    approval_id = new_id("apr")
    tx.run(
        """
        insert into approvals (id, run_id, key, user_id, tool, summary, input, digest, state, requested_at, expires_at,
            card)
        values (:id, :run_id, :key, :user_id, :tool, :summary, :input, :digest, 'open', :now, :expires_at, :card)
        """,
        id=approval_id,
        run_id=row.id,
        key=caller.key,
        user_id=row.user_id,
        tool=tool,
        summary=summary[:MAX_SUMMARY_CHARS],
        input=text,
        digest=digest(tool, text),
        now=tx.now,
        expires_at=expires_at,
        card=None if card is None else actions.encoded(card),
    )
    tx.emit(topic=APPROVALS_TOPIC, kind="approval.requested", id=approval_id, audience=row.user_id)
    note(tx, row, "run.approval")
    return Waiting(kind="approval", due_at=expires_at)


CALLS: Final = (
    Call(name=SLEEP, summary="Go on later.", input=SleepInput, decide=_sleep),
    Call(name=CHILD, summary="Begin another run, and wait for it.", input=ChildInput, decide=_begin_child),
    Call(name=BEGUN, summary="Note that work begins which must not happen twice.", input=Nothing, decide=_note_begun),
    Call(name=APPROVAL, summary="Ask a person, and wait.", input=ApprovalInput, decide=_ask_a_person),
)
ALWAYS_GRANTED: Final = frozenset(row.name for row in CALLS)
