"""The rule of trust: whether a call is done at once, waits for a person, or is refused. And the call itself.

The rule: a call that is not a sink is done at once. A sink is done at once if its definition says ``auto`` and the run
has no text from outside; else a person decides on the exact call. Descriptions of tools are such text, too, except for
calls of these very tools: a person has allowed them. Neither the model nor a tool's answer can change this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import msgspec

from svc.errors import Refusal
from svc.pages import page_path, readable_page
from svc.principal import Principal
from svc.store import ReadTx, Tx
from svc.tools.model import CardRow, Outcome, Tool
from svc.tools.taint import taint, taint_of, taint_page
from svc.workflow import Json
from svc.workspace import Workspace

Approval = Literal["ask", "auto"]
ANY: Final = "*"


class Given(msgspec.Struct, frozen=True):
    """What one run may use, as granted when it began."""

    tools: tuple[str, ...]
    approvals: Mapping[str, Approval]

    def approval(self, tool: str) -> Approval:
        return self.approvals.get(tool, self.approvals.get(ANY, "ask"))


def give(tx: Tx, run_id: str, *, tools: Sequence[str], approvals: Mapping[str, Approval]) -> None:
    """Grant a run its tools, in the transaction that begins it."""
    tx.run(
        "insert into run_tools (run_id, tools, approvals) values (:id, :tools, :approvals) on conflict do nothing",
        id=run_id,
        tools=msgspec.json.encode(tools).decode(),
        approvals=msgspec.json.encode(dict(approvals)).decode(),
    )


def given_to(tx: ReadTx, run_id: str) -> Given:
    row = tx.one("select tools, approvals from run_tools where run_id = :id", id=run_id)
    if row is None:
        return Given(tools=(), approvals={})
    return Given(
        tools=tuple(msgspec.json.decode(row[0], type=list[str])),
        approvals=msgspec.json.decode(row[1], type=dict[str, Approval]),
    )


@dataclass(frozen=True, kw_only=True)
class Understood:
    """A valid call. ``exact`` is the input that is done, approved and shown."""

    tool: Tool
    wanted: Any
    exact: Json


def understood(tool: Tool, input: Json) -> Understood | str:
    """The call, or why it is not valid, in words for the model. So no person is asked about a call that could not be
    done.
    """
    try:
        wanted = msgspec.convert(input if input is not None else {}, tool.input)
    except (msgspec.ValidationError, ValueError) as error:
        return f"{tool.name}: {error}"
    if tool.described is not None:
        given = cast("dict[str, Any]", wanted)
        lacking = [name for name in _required(tool.schema) if name not in given]
        if lacking:
            return f"{tool.name}: Object missing required field `{lacking[0]}`"
    return Understood(tool=tool, wanted=wanted, exact=msgspec.to_builtins(wanted))


def _required(described: Mapping[str, Any]) -> list[Any]:
    """The keys that a foreign schema requires. Its server checks all else itself."""
    found = described.get("required")
    return found if isinstance(found, list) else []


def why_ask(tx: ReadTx, principal: Principal, run_id: str, call: Understood, given: Given) -> str | None:
    """Why a person must decide; ``None`` if the call is done at once. Raises what the tool refuses in any case."""
    why = call.tool.sink(tx, principal, call.wanted) if call.tool.sink else None
    if why is None:
        return None
    source = taint_of(tx, run_id)
    if source is not None and source != call.tool.described_by:
        return f"{why} The run has read text from outside ({source})."
    return None if given.approval(call.tool.name) == "auto" else why


def card_of(tx: ReadTx, principal: Principal, call: Understood) -> tuple[CardRow, ...] | None:
    return call.tool.card(tx, principal, call.wanted) if call.tool.card else None


def decide(workspace: Workspace, tx: Tx, principal: Principal, run_id: str | None, call: Understood) -> Json:
    """Do the call now, and return the answer for the model. A refused call changes nothing.

    ``run_id``: ``None`` for an MCP client, which is not a run, and counts as having text from outside.
    """
    assert call.tool.decide is not None
    try:
        with tx.savepoint():
            outcome = call.tool.decide(workspace, tx, principal, call.wanted)
    except Refusal as refusal:
        return said_no(refusal)
    follow(tx, principal, run_id, call, outcome)
    return {"result": bounded(outcome.output, call.tool.max_output_bytes)}


def follow(tx: Tx, principal: Principal, run_id: str | None, call: Understood, outcome: Outcome) -> None:
    """The effect on trust: text from outside taints the run, and a tainted run taints the pages that it writes."""
    if outcome.outside is not None and run_id is not None:
        taint(tx, run_id, outside=outcome.outside)
    path = outcome.output.get("path") if isinstance(outcome.output, dict) else None
    if isinstance(path, str) and call.tool.level == "full" and (run_id is None or taint_of(tx, run_id)):
        page = readable_page(tx, principal, page_path(path))
        if page is not None:
            taint_page(tx, page.id, run_id=run_id)


def said_no(refusal: Refusal) -> Json:
    return {"error": {"code": refusal.code, "message": str(refusal) or refusal.code}}


def bounded(output: Json, limit: int) -> Json:
    """Cut the output to the limit, and mark it as cut."""
    data = msgspec.json.encode(output)
    if len(data) <= limit:
        return output
    # Half of it: as a text within JSON it grows again, because quotation marks are escaped.
    return {"cut": True, "bytes": len(data), "text": data[: limit // 2].decode("utf-8", "ignore")}
