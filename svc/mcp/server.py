"""``POST /mcp``: the tools of this service for MCP clients. A client acts as the owner of the device whose token it
sends.

svc can't know what an MCP client's model has read, so all of it counts as outside text. A call that sends, fetches or
changes what others see becomes a run that waits for a person. They decide in the app; the token that asked never can.
Keeps no session; each request is answered with JSON. Never passes the token on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import trio

from svc import __version__, runs
from svc.errors import Forbidden, Refusal, Unauthenticated
from svc.principal import Principal
from svc.protocol import Request, Response, json_response
from svc.runs import Dispatcher
from svc.store import ReadTx, Tx
from svc.tools import LEVELS, Level, Tool, Tools, Understood, bounded, decide, give, inert, taint, understood
from svc.worker.mcp import protocol
from svc.worker.mcp.protocol import Fault, Message
from svc.worker.tools import ONCE
from svc.workspace import RequestContext, Workspace

PATIENCE_S: Final = 40.0
"""The time for which a call waits for a person, or for the tool. Beyond: the client is told where to look."""
LOOK_S: Final = 0.25
RESULT: Final = "runs.result"
OUTSIDE: Final = "an MCP client"
_VIAS: Final = frozenset({"device", "unclaimed", "off"})
_ENDED: Final = frozenset({"done", "failed", "cancelled"})
_NAME: Final = "svc"
INSTRUCTIONS: Final = (
    "Pages, mail, people, tasks, files and memory of one person. What sends, fetches or changes what others "
    "see waits for that person, who decides in the app; ask runs.result for what came of it."
)


async def post(context: RequestContext, request: Request) -> Response:
    _must_be_device(context.principal)
    level = _level(request)
    try:
        message = protocol.read(await request.read(protocol.MAX_MESSAGE_BYTES))
    except Fault as fault:
        return json_response(protocol.refusal(None, fault), status=400)
    if message.method is None or message.id is None:
        return Response(status=202, headers=[("cache-control", "no-store")])
    try:
        _check_version(request, message)
        result = await _answered(context, message, level)
    except Fault as fault:
        return json_response(protocol.refusal(message.id, fault))
    return json_response(protocol.answer(message.id, result))


async def refuse(context: RequestContext, request: Request) -> Response:
    """Refuses other methods: there is no stream to listen to, and no session to end."""
    raise Refusal("This server speaks MCP by POST alone.", code="method_not_allowed", headers={"allow": "POST"})


def _must_be_device(principal: Principal) -> None:
    """Not a browser session: with one, any page that reaches this route would act as its reader."""
    if principal.via == "session":
        raise Forbidden("MCP clients come with the token of a device.")
    if principal.via not in _VIAS:
        raise Unauthenticated


def _level(request: Request) -> Level:
    for part in request.raw_query.split("&"):
        name, _, value = part.partition("=")
        if name == "level":
            if value not in LEVELS:
                raise Refusal("level is read, mail or full.", code="invalid")
            return value  # type: ignore[return-value]  # it is a key of LEVELS
    return "full"


def _check_version(request: Request, message: Message) -> None:
    named = request.headers.get("mcp-protocol-version")
    if named is not None and named not in protocol.VERSIONS and message.method != "initialize":
        data = {"supported": list(protocol.VERSIONS), "requested": named[:100]}
        raise Fault(protocol.UNSUPPORTED_VERSION, "This version of the protocol is not spoken here.", data)


async def _answered(context: RequestContext, message: Message, level: Level) -> Any:
    params = message.params or {}
    match message.method:
        case "initialize":
            wanted = params.get("protocolVersion")
            spoken = wanted if wanted in protocol.VERSIONS[1:] else protocol.HANDSHAKE_VERSION
            return {"protocolVersion": spoken, **_about()}
        case "server/discover":
            return {"supportedVersions": list(protocol.VERSIONS), **_about(), **_fresh()}
        case "ping":
            return {}
        case "tools/list":
            found = await context.workspace.store.read(_tools, context.workspace, context.principal, level)
            return {"tools": [_listed(found[name]) for name in sorted(found)] + [_RESULT_TOOL], **_fresh()}
        case "tools/call":
            return await _call(context, params, level)
    raise Fault(protocol.METHOD_NOT_FOUND, f"{(message.method or '')[:100]} is not spoken here.")


def _about() -> dict[str, Any]:
    return {
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": _NAME, "version": __version__},
        "instructions": INSTRUCTIONS,
    }


def _fresh() -> dict[str, Any]:
    """Fields of the newest protocol version: how long an answer may be cached, and that it is private to one user."""
    return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def _tools(tx: ReadTx, workspace: Workspace, principal: Principal, level: Level) -> Mapping[str, Tool]:
    """Only the tools of this service: those of other MCP servers are not passed on."""
    found = workspace.service(Tools).own(principal)
    return {name: tool for name, tool in found.items() if tool.level in LEVELS[level]}


def _listed(tool: Tool) -> dict[str, Any]:
    asks = tool.sink is not None
    about = f"{tool.summary} A person decides first, where it acts on others." if asks else tool.summary
    hints = {"readOnlyHint": tool.level != "full", "destructiveHint": asks, "openWorldHint": tool.name == "http.fetch"}
    return {"name": tool.name, "description": about, "inputSchema": tool.schema, "annotations": hints}


_RESULT_TOOL: Final = {
    "name": RESULT,
    "description": "What came of a call that waited for a person.",
    "inputSchema": {
        "type": "object",
        "properties": {"runId": {"type": "string"}},
        "required": ["runId"],
        "additionalProperties": False,
    },
    "annotations": {"readOnlyHint": True},
}


async def _call(context: RequestContext, params: Mapping[str, Any], level: Level) -> Any:
    workspace, principal = context.workspace, context.principal
    name, given = params.get("name"), params.get("arguments") or {}
    if name == RESULT:
        run_id = given.get("runId") if isinstance(given, dict) else None
        return await _came_of(workspace, principal, run_id if isinstance(run_id, str) else "")
    tools = await workspace.store.read(_tools, workspace, principal, level)
    tool = tools.get(name) if isinstance(name, str) else None
    if tool is None:
        raise Fault(protocol.INVALID_PARAMS, f"There is no tool {str(name)[:100]!r} here.")
    found = understood(tool, given)
    if isinstance(found, str):
        return _said({"error": {"code": "invalid", "message": inert(found)}})
    try:
        if await workspace.store.read(_is_sink, principal, found):
            return await _as_run(workspace, principal, found)
        return _said(await _at_once(workspace, principal, found))
    except Refusal as refusal:
        return _said({"error": {"code": refusal.code, "message": str(refusal)}})


def _is_sink(tx: ReadTx, principal: Principal, found: Understood) -> bool:
    return found.tool.sink is not None and found.tool.sink(tx, principal, found.wanted) is not None


async def _at_once(workspace: Workspace, principal: Principal, found: Understood) -> Any:
    """For a call that reads, or writes a private page. Such a page is marked as written from outside."""
    if found.tool.perform is None:
        said = await workspace.store.write(_decided, workspace, principal, found)
        found.tool.after(workspace)
        return said
    try:
        with trio.fail_after(found.tool.within_s):
            outcome = await found.tool.perform(workspace, principal, found.wanted)
    except trio.TooSlowError:
        raise Refusal("It took too long, and was given up.", code="unavailable") from None
    return {"result": bounded(outcome.output, found.tool.max_output_bytes)}


def _decided(tx: Tx, workspace: Workspace, principal: Principal, found: Understood) -> Any:
    if _is_sink(tx, principal, found):
        raise Refusal("What it would change was shared just now: ask again.", code="conflict")
    return decide(workspace, tx, principal, None, found)


async def _as_run(workspace: Workspace, principal: Principal, found: Understood) -> Any:
    run_id = await workspace.store.write(_begun, principal, found)
    workspace.service(Dispatcher).wake.call()
    return await _came_of(workspace, principal, run_id)


def _begun(tx: Tx, principal: Principal, found: Understood) -> str:
    run_id = runs.begin(
        tx,
        principal.user_id,
        ONCE,
        {"tool": found.tool.name, "input": found.exact},
        title=f"{found.tool.name}, asked by an MCP client",
        device_id=principal.device_id,
    )
    give(tx, run_id, tools=[found.tool.name], approvals={})
    taint(tx, run_id, outside=OUTSIDE)
    return run_id


async def _came_of(workspace: Workspace, principal: Principal, run_id: str) -> Any:
    """The result, or where the call waits for a person."""
    pause_s = LOOK_S
    with trio.move_on_after(PATIENCE_S):
        while True:
            state, output = await workspace.store.read_small(_stands, principal, run_id)
            if state in _ENDED:
                return _said(output if isinstance(output, dict) else {"error": {"message": f"The run is {state}."}})
            await trio.sleep(pause_s)
            pause_s = min(pause_s * 1.5, 2.0)
    told = (
        f"It waits for a person, who decides in svc, under Runs or in the task queue. Ask {RESULT} later, with runId "
        f"{run_id}."
    )
    return _content(told, {"waiting": True, "runId": run_id}, is_error=False)


def _stands(tx: ReadTx, principal: Principal, run_id: str) -> tuple[str, Any]:
    row = runs.mine(tx, principal, run_id)
    if row is None or row.workflow != ONCE.name:
        raise Refusal("There is no such run.", code="not_found")
    output = tx.value("select output from runs where id = :id", id=run_id)
    return row.state, None if output is None else msgspec.json.decode(output)


def _said(said: Mapping[str, Any]) -> Any:
    if "error" in said:
        return _content(str(said["error"].get("message", "It failed.")), None, is_error=True)
    result = said.get("result")
    structured = result if isinstance(result, dict) else {"result": result}
    return _content(msgspec.json.encode(result).decode(), structured, is_error=False)


def _content(text: str, structured: Any, *, is_error: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": is_error, "resultType": "complete"}
    if structured is not None:
        found["structuredContent"] = structured
    return found
