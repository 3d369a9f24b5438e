"""The call of a run of triage to the trusted plane: store the model's answer."""

from __future__ import annotations

from typing import Final

from svc.protocol import Wire
from svc.store import Tx
from svc.triage import actions
from svc.worker.triage import ANSWER
from svc.workflow import Call, Caller, Json
from svc.workspace import Workspace


class AnswerInput(Wire, frozen=True):
    message: str
    kind: str


def _answer(workspace: Workspace, tx: Tx, caller: Caller, wanted: AnswerInput) -> Json:
    kind = actions.kind_of(wanted.kind)
    return {"counted": actions.answer(tx, caller.principal, message_id=wanted.message, kind=kind), "kind": kind}


CALLS: Final = (
    Call(name=ANSWER, summary="Write down of what kind a model says a mail is.", input=AnswerInput, decide=_answer),
)
