"""The calls that an agent's run makes to this plane, and the live text of its model's answer."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from svc.agents import actions
from svc.errors import Invalid
from svc.protocol import Nothing, Request, Response, Route, Wire, json_response
from svc.runs import grant_of
from svc.store import Tx
from svc.tools import inert
from svc.worker.agents import LIVE_PATH, MAX_TOLD_CHARS, OPEN, TURN
from svc.worker.terms import BROKER_PATH
from svc.workflow import Call, Caller, Json
from svc.workspace import RequestContext, Workspace

MAX_LIVE_BYTES: Final = 64 * 1024
"""Bytes of a model's answer that are shown live at once. Beyond: refused, and nobody sees it live."""


class TurnInput(Wire, frozen=True):
    """``heard``: how many of its owner's messages the run has read."""

    turn: Annotated[int, msgspec.Meta(ge=1)]
    heard: Annotated[int, msgspec.Meta(ge=0)]


class LiveInput(Wire, frozen=True):
    text: Annotated[str, msgspec.Meta(max_length=MAX_TOLD_CHARS)]


def _open(workspace: Workspace, tx: Tx, caller: Caller, wanted: Nothing) -> Json:
    return actions.opened(workspace, tx, caller.principal, caller.run_id)


def _turn(workspace: Workspace, tx: Tx, caller: Caller, wanted: TurnInput) -> Json:
    return actions.turn(tx, caller.run_id, number=wanted.turn, heard=wanted.heard)


async def live(context: RequestContext, request: Request) -> Response:
    """Send the current text of the model to those who watch the run. It is kept only as an event in the news."""
    grant = await grant_of(context.workspace, request)
    try:
        wanted = msgspec.convert(await request.read_json(MAX_LIVE_BYTES), LiveInput)
    except msgspec.ValidationError as error:
        raise Invalid(str(error)) from None
    await context.workspace.store.write(_tell, grant.run_id, grant.principal.user_id, wanted.text)
    return json_response({})


def _tell(tx: Tx, run_id: str, user_id: str | None, text: str) -> None:
    tx.emit(topic="runs", kind="run.said", id=run_id, payload={"text": inert(text)}, audience=user_id)


CALLS: Final = (
    Call(name=OPEN, summary="What an agent's run begins with.", input=Nothing, decide=_open),
    Call(name=TURN, summary="What its owner has said since, and whether it may go on.", input=TurnInput, decide=_turn),
)
ROUTES: Final = (
    Route(
        method="POST",
        path=f"{BROKER_PATH}{LIVE_PATH}",
        access="authenticated",
        handle=live,
        summary="What the model of an agent's run says right now.",
        listener="internal",
    ),
)
