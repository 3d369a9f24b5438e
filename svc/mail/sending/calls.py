"""The call ``mail.send`` for runs. The mail is accepted in the transaction that stores the step's answer, so exactly
once."""

from __future__ import annotations

from typing import Final

from svc.mail.sending import actions, wire
from svc.mail.sending.tasks import Delivery
from svc.store import Tx
from svc.workflow import Call, Caller, Json
from svc.workspace import Workspace


def _send(workspace: Workspace, tx: Tx, caller: Caller, wanted: wire.SendInput) -> Json:
    """Accept the mail as if the owner had sent it, with the undo pause."""
    row = actions.accept(
        tx,
        caller.principal,
        request=wire.send_request_of(wanted),
        send_at=wire.millis(wanted.send_at),
        draft_id=wanted.draft_id,
        draft_version=wanted.draft_version,
        hold_ms=workspace.service(Delivery).hold_ms,
    )
    return {"outgoingId": row.id}


def _look(workspace: Workspace) -> None:
    workspace.service(Delivery).look()


CALLS: Final = (
    Call(name="mail.send", summary="Send a mail of the run's owner.", input=wire.SendInput, decide=_send, then=_look),
)
