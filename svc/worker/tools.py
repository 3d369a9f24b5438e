"""One tool call within a run, and the run that makes a single one. The other plane decides what may be done."""

from __future__ import annotations

from typing import Final

from svc.worker.mcp import call_tool
from svc.worker.rows import WorkerRows
from svc.workflow import Json, Run, StepFailed, Workflow

CALL: Final = "tools.call"
ASK: Final = "tools.ask"
DO: Final = "tools.do"
DID: Final = "tools.did"
CALLS: Final = (CALL, ASK, DO, DID)

DECLINED: Final = "A person was asked, and has declined. Don't try it again in another way."
EXPIRED: Final = "A person was asked, and nobody has answered in time."


async def use(run: Run, tool: str, input: Json) -> Json:
    """``{"result": …}`` or ``{"error": {"code", "message"}}``, for the model. A person may be asked meanwhile."""
    said = await run.call(CALL, {"tool": tool, "input": input}, name="call")
    asked, given = 0, input
    while "needs" in said or "unknown" in said:
        asked += 1
        name = "ask" if asked == 1 else f"ask {asked}"
        unknown = "unknown" in said
        try:
            given = await run.call(ASK, {"call": _key(run, "call"), "unknown": unknown}, name=name)
        except StepFailed as error:
            return _refused(error)
        said = await run.call(DO, {"call": _key(run, "call"), "asked": _key(run, name)}, name=f"do {asked}")
    said = await _handed(run, said["handed"]) if "handed" in said else dict(said)
    return {**said, "changed": given} if "result" in said and _is_changed(input, given) else said


def _is_changed(input: Json, given: Json) -> bool:
    """Whether a person approved a changed input. Fields that the tool itself filled in are no change."""
    asked, done = input or {}, given or {}
    if not isinstance(asked, dict) or not isinstance(done, dict):
        return bool(asked != done)
    return any(done.get(name) != value for name, value in asked.items()) or any(
        done[name] for name in done.keys() - asked.keys()
    )


async def _handed(run: Run, order: Json) -> Json:
    """A call that this plane makes itself: to an MCP server. If it is not known whether it was done, a person
    decides."""

    async def work(key: str) -> Json:
        return await call_tool(run, order["server"], order["tool"], order["arguments"], order["digest"])

    try:
        shown = {"server": order["server"], "tool": order["tool"]}
        said = await run.step("server", work, input=shown, kind="tool", once=True)
    except StepFailed as error:
        said = _refused(error)
    await run.call(DID, {"call": _key(run, "call"), "failed": "error" in said}, name="did")
    return dict(said)


def _refused(error: StepFailed) -> Json:
    """A person's refusal, for the model. Raises any other error."""
    if error.type not in {"Declined", "Expired"}:
        raise error
    return _no(DECLINED if error.type == "Declined" else EXPIRED)


def _key(run: Run, name: str) -> str:
    return f"{run.path}/{name}" if run.path else name


def _no(message: str) -> Json:
    return {"error": {"code": "declined", "message": message}}


async def once(run: Run, input: Json) -> Json:
    """A single call, for an MCP client."""
    return await use(run, input["tool"], input["input"])


ONCE: Final = Workflow(name="tools.once", version=1, title="Call a tool", code=once, calls=CALLS)
ROWS: Final = WorkerRows(workflows=(ONCE,))
