"""The calls of a run about tools: call a tool, ask a person, do what was approved.

The row of a call is written before the work and settled after it. Work in the database is decided in the transaction of
its answer, exactly once. All other work is done by :mod:`svc.tools.tasks`, and the run waits for it.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from svc.clock import DAY_MS
from svc.errors import Invalid, Refusal
from svc.inert import inert
from svc.protocol import Wire
from svc.runs import ask_person, decided, digest, show_changed
from svc.store import Tx
from svc.tools.cards import row, same_card, shown_card
from svc.tools.deciding import Understood, bounded, card_of, decide, given_to, said_no, understood, why_ask
from svc.tools.model import CardRow
from svc.tools.table import Tools
from svc.tools.taint import taint
from svc.tools.tasks import Doing
from svc.worker.tools import ASK, CALL, DID, DO
from svc.workflow import Call, Caller, Json, Waiting
from svc.workspace import Workspace

APPROVAL_S: Final = 7 * 86_400.0
"""How long a call waits for a person. Beyond: the answer is no."""
MAX_INPUT_BYTES: Final = 100 * 1024
"""The input of a tool, as JSON. Beyond: refused, and the model is told."""
MAX_CALLS: Final = 500
"""Tool calls of one run. Beyond: refused, and the model is told."""
DONE_BY_MS: Final = DAY_MS

Key = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]


class CallInput(Wire, frozen=True):
    tool: Annotated[str, msgspec.Meta(max_length=200)]
    input: Json = None


class AskInput(Wire, frozen=True):
    """``call``: the key of the call's step. ``unknown``: the call was begun, and may or may not have been done."""

    call: Key
    unknown: bool = False


class DidInput(Wire, frozen=True):
    """``call``: the key of the call's step, which was handed over to the code of the run."""

    call: Key
    failed: bool


class DoInput(Wire, frozen=True):
    """``asked``: the key of the step in which a person was asked."""

    call: Key
    asked: Key


def _call(workspace: Workspace, tx: Tx, caller: Caller, wanted: CallInput) -> Json | Waiting:
    found = _understood(workspace, tx, caller, wanted.tool, wanted.input)
    if isinstance(found, str):
        return _no(found)
    made = tx.value("select count(*) from tool_calls where run_id = :id", id=caller.run_id)
    if made >= MAX_CALLS:
        return _no(f"This run has called tools {MAX_CALLS} times: it may call no more.")
    try:
        why = why_ask(tx, caller.principal, caller.run_id, found, given_to(tx, caller.run_id))
        if why is not None:
            card_of(tx, caller.principal, found)
    except Refusal as refusal:
        return said_no(refusal)
    _keep(tx, caller, caller.key, found, state="begun" if why is None else "asked")
    return {"needs": "approval"} if why is not None else _do(workspace, tx, caller, caller.key, found)


def _ask(workspace: Workspace, tx: Tx, caller: Caller, wanted: AskInput) -> Waiting:
    found = _kept(workspace, tx, caller, wanted.call)
    asking = tx.run(
        """
        update tool_calls set asked = :asked
        where run_id = :id and key = :key and state in ('asked', 'unknown')
        """,
        asked=caller.key,
        id=caller.run_id,
        key=wanted.call,
    )
    if not asking:
        raise Invalid("This call waits for nobody.")
    why = why_ask(tx, caller.principal, caller.run_id, found, given_to(tx, caller.run_id)) or ""
    card = card_of(tx, caller.principal, found) or _plain(found)
    if wanted.unknown:
        why = "It was begun, and whether it was done is not known. Approve to do it again."
    summary = f"{found.tool.name}: {inert(why)}"
    return ask_person(
        tx,
        caller,
        tool=found.tool.name,
        summary=summary,
        input=found.exact,
        expires_s=APPROVAL_S,
        card=msgspec.to_builtins(card),
    )


def _do_approved(workspace: Workspace, tx: Tx, caller: Caller, wanted: DoInput) -> Json | Waiting:
    """Do exactly what a person approved: the input of their decision, checked against its digest. An approval is valid
    for the one call that they were asked about, once. If the card would now differ from what they saw, they are asked
    again.
    """
    before = _known(workspace, tx, caller, wanted.call)
    if isinstance(before, str):
        _end(tx, caller, wanted.call, state="failed")
        return _no(before)
    waits = tx.value(
        """
        select 1 from tool_calls
        where run_id = :id and key = :key and state in ('asked', 'unknown') and asked = :asked
        """,
        id=caller.run_id,
        key=wanted.call,
        asked=wanted.asked,
    )
    approved = decided(tx, run_id=caller.run_id, key=wanted.asked, tool=before.tool.name)
    if waits is None or approved is None:
        raise Invalid("No person has let this call through.")
    try:
        now = card_of(tx, caller.principal, before)
    except Refusal as refusal:
        _end(tx, caller, wanted.call, state="failed")
        return said_no(refusal)
    if now is not None and approved.card is not None and not same_card(shown_card(approved.card), now):
        return {"needs": "approval"}
    found = understood(before.tool, msgspec.json.decode(approved.input))
    if isinstance(found, str):
        _end(tx, caller, wanted.call, state="failed")
        return _no(found)
    if approved.changed:
        try:
            card = card_of(tx, caller.principal, found) or _plain(found)
        except Refusal as refusal:
            _end(tx, caller, wanted.call, state="failed")
            return said_no(refusal)
        show_changed(tx, run_id=caller.run_id, key=wanted.asked, card=msgspec.to_builtins(card))
    _keep(tx, caller, wanted.call, found, state="begun")
    return _do(workspace, tx, caller, wanted.call, found)


def _did(workspace: Workspace, tx: Tx, caller: Caller, wanted: DidInput) -> Json:
    """Settle a call that was handed over, as the run reports its end."""
    tx.run(
        """
        update tool_calls set state = :state, ended_at = :now
        where run_id = :id and key = :key and state = 'begun' and waits is null
        """,
        state="failed" if wanted.failed else "done",
        now=tx.now,
        id=caller.run_id,
        key=wanted.call,
    )
    return {}


def _do(workspace: Workspace, tx: Tx, caller: Caller, key: str, found: Understood) -> Json | Waiting:
    if found.tool.reads_outside is not None:
        taint(tx, caller.run_id, outside=found.tool.reads_outside)
    if found.tool.hand_over is not None:
        return {"handed": found.tool.hand_over(found.wanted)}
    if found.tool.perform is not None:
        tx.run(
            "update tool_calls set waits = :waits where run_id = :id and key = :key",
            waits=caller.key,
            id=caller.run_id,
            key=key,
        )
        return Waiting(kind="tool", due_at=tx.now + DONE_BY_MS)
    said = decide(workspace, tx, caller.principal, caller.run_id, found)
    _end(tx, caller, key, state="failed" if "error" in said else "done")
    return said


def _end(tx: Tx, caller: Caller, key: str, *, state: str) -> None:
    tx.run(
        "update tool_calls set state = :state, ended_at = :now where run_id = :id and key = :key",
        state=state,
        now=tx.now,
        id=caller.run_id,
        key=key,
    )


def _understood(workspace: Workspace, tx: Tx, caller: Caller, name: str, input: Json) -> Understood | str:
    """The call, if the tool is granted to the run, exists, and the input is valid; else why not, in words for the
    model.
    """
    tool = None
    if name in given_to(tx, caller.run_id).tools:
        tool = workspace.service(Tools).find(tx, caller.principal, name)
    if tool is None:
        return f"There is no tool {name[:200]!r} here."
    if len(msgspec.json.encode(input)) > MAX_INPUT_BYTES:
        return f"{name}: what it is given is longer than {MAX_INPUT_BYTES} bytes."
    return understood(tool, input)


def _kept(workspace: Workspace, tx: Tx, caller: Caller, key: str) -> Understood:
    found = _known(workspace, tx, caller, key)
    if isinstance(found, str):
        raise Invalid(found)
    return found


def _known(workspace: Workspace, tx: Tx, caller: Caller, key: str) -> Understood | str:
    """The call that was kept, if its tool is still there; else why not, in words for the model."""
    row = tx.one("select tool, input from tool_calls where run_id = :id and key = :key", id=caller.run_id, key=key)
    if row is None:
        raise Invalid("There is no such call.")
    return _understood(workspace, tx, caller, row[0], msgspec.json.decode(row[1]))


def _keep(tx: Tx, caller: Caller, key: str, found: Understood, *, state: str) -> None:
    text = msgspec.json.encode(found.exact).decode()
    tx.run(
        """
        insert into tool_calls (run_id, key, tool, input, digest, state, at)
        values (:id, :key, :tool, :input, :digest, :state, :now)
        on conflict (run_id, key) do update set input = excluded.input, digest = excluded.digest,
            state = excluded.state, ended_at = null
        """,
        id=caller.run_id,
        key=key,
        tool=found.tool.name,
        input=text,
        digest=digest(found.tool.name, text),
        state=state,
        now=tx.now,
    )


def _plain(found: Understood) -> tuple[CardRow, ...]:
    """The rows for a tool that draws no card: its input, key by key."""
    exact = found.exact if isinstance(found.exact, dict) else {"input": found.exact}
    return tuple(row(str(key), value if isinstance(value, str) else _json(value)) for key, value in exact.items())


def _json(value: Json) -> str:
    return msgspec.json.format(msgspec.json.encode(bounded(value, MAX_INPUT_BYTES))).decode()


def _no(message: str) -> Json:
    return {"error": {"code": "invalid", "message": inert(message)}}


def _then(workspace: Workspace) -> None:
    workspace.service(Doing).wake.call()
    for after in workspace.service(Tools).afters:
        after(workspace)


CALLS: Final = (
    Call(name=CALL, summary="Call a tool: done, or to be asked about.", input=CallInput, decide=_call, then=_then),
    Call(name=ASK, summary="Ask a person about a call.", input=AskInput, decide=_ask),
    Call(name=DO, summary="Do what a person let through.", input=DoInput, decide=_do_approved, then=_then),
    Call(name=DID, summary="What a call that was handed over came to.", input=DidInput, decide=_did),
)
