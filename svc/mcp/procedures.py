"""The procedures of the MCP client: the servers, the state of each, and a person's agreement to what they saw."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from svc import landlock
from svc.capabilities import Door, door_of
from svc.clock import rfc3339_or_none
from svc.errors import Forbidden
from svc.inert import inert
from svc.mcp import pinned
from svc.mcp.declared import Declaration
from svc.mcp.pinned import Kept, Pinned, Said, State
from svc.mcp.servers import McpServer, server_of, servers_of
from svc.mcp.signing import kept as sign_ins
from svc.mcp.signing.sign_ins import Standing, may_sign_in, standing, trouble
from svc.mcp.tool_rows import tool_name
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure, Wire
from svc.runs import Dispatcher
from svc.store import ReadTx, Tx
from svc.worker.mcp.terms import MAX_TOOLS
from svc.workspace import RequestContext, Workspace

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
ACTOR: Final = "mcp"
ServerState = Literal["off", "new", "changed", "looking", "failed", "ready"]


class ChangeOut(Wire, frozen=True):
    """One part of a tool: as agreed, and as it is now."""

    part: str
    was: str
    now: str


class ServerToolOut(Wire, frozen=True):
    """``digest``: covers all that is shown; sent back to agree. ``schema``, ``hints``: as JSON."""

    name: str
    tool: str
    title: str
    description: str
    schema: str
    hints: str
    state: State
    digest: str
    changes: tuple[ChangeOut, ...]


class CredentialOut(Wire, frozen=True):
    """``is_set``: ``None`` for a credential that is not kept for MCP servers; its state is shown elsewhere."""

    name: str
    is_set: bool | None


class ServerOut(Wire, frozen=True):
    """``path``: of its page; ``plugin``: the package that brings it; neither if it comes from ``SVC_MCP_SERVERS``.
    ``values``: names of its variables or headers, each with the credential that it takes, if any. ``launch``: the
    digest of how it is reached, to be sent back. ``folders``: what its page lets a program read or write; ``confined``:
    whether this system enforces that. ``sign_in``: whether it wants a sign-in, and its state; ``sign_in_problem``: why
    the access has ended.
    """

    name: str
    title: str
    path: str | None
    plugin: str | None
    kind: Literal["stdio", "http"]
    target: str
    values: tuple[str, ...]
    credentials: tuple[CredentialOut, ...]
    launch: str
    state: ServerState
    problem: str
    version: str
    looked_at: str | None
    run_id: str | None
    left_out: tuple[str, ...]
    folders: tuple[str, ...]
    confined: bool
    sign_in: Standing
    sign_in_problem: str
    tools: tuple[ServerToolOut, ...]


class ConnectInput(Wire, frozen=True):
    name: Name
    launch: Annotated[str, msgspec.Meta(max_length=200)]


class ConnectOut(Wire, frozen=True):
    run_id: str


class SeenTool(Wire, frozen=True):
    name: Name
    digest: Annotated[str, msgspec.Meta(max_length=200)]


class AllowInput(Wire, frozen=True):
    """``tools``: each by its own name, with the digest of what the person saw."""

    name: Name
    tools: Annotated[tuple[SeenTool, ...], msgspec.Meta(max_length=MAX_TOOLS)]


class ForbidInput(Wire, frozen=True):
    name: Name
    tools: Annotated[tuple[Name, ...], msgspec.Meta(max_length=MAX_TOOLS)]


async def list_servers(context: RequestContext, wanted: Nothing) -> list[ServerOut]:
    return await context.workspace.store.read(_listed, context.workspace, context.principal)


async def connect(context: RequestContext, wanted: ConnectInput) -> ConnectOut:
    _in_person(context.principal)
    workspace = context.workspace
    run_id = await workspace.store.write(_connect, workspace, context.principal, wanted)
    workspace.service(Dispatcher).wake.call()
    return ConnectOut(run_id=run_id)


async def allow(context: RequestContext, wanted: AllowInput) -> Nothing:
    _in_person(context.principal)
    await context.workspace.store.write(_allow, context.workspace, context.principal, wanted)
    return NOTHING


async def forbid(context: RequestContext, wanted: ForbidInput) -> Nothing:
    await context.workspace.store.write(_forbid, context.workspace, context.principal, wanted)
    return NOTHING


def _in_person(principal: Principal) -> None:
    """Only in person, because a device's program could have been misled."""
    if principal.via in {"device", "run"}:
        raise Forbidden("A person says this, in the app.")


def _connect(tx: Tx, workspace: Workspace, principal: Principal, wanted: ConnectInput) -> str:
    server = server_of(tx, workspace, principal, wanted.name)
    return pinned.connect(tx, server, launch=wanted.launch, user_id=principal.user_id)


def _allow(tx: Tx, workspace: Workspace, principal: Principal, wanted: AllowInput) -> None:
    server = server_of(tx, workspace, principal, wanted.name)
    pinned.allow(tx, server, {one.name: one.digest for one in wanted.tools})


def _forbid(tx: Tx, workspace: Workspace, principal: Principal, wanted: ForbidInput) -> None:
    pinned.forbid(tx, server_of(tx, workspace, principal, wanted.name), wanted.tools)


def _listed(tx: ReadTx, workspace: Workspace, principal: Principal) -> list[ServerOut]:
    found = servers_of(tx, workspace, principal)
    door = door_of(workspace, ACTOR)
    return [_out(tx, door, found[name]) for name in sorted(found)]


def _out(tx: ReadTx, door: Door, server: McpServer) -> ServerOut:
    kept = pinned.kept(tx, server.id)
    state, problem = _stands(tx, server, kept)
    sign_in = sign_ins.kept(tx, server.id, server.declaration.url) if may_sign_in(server) else None
    declaration = server.declaration
    return ServerOut(
        name=server.name,
        title=server.title,
        path=server.path,
        plugin=server.plugin,
        kind=declaration.kind,
        target=declaration.target,
        credentials=tuple(
            CredentialOut(name=name, is_set=door.available(tx, name) if door.grants.allow(name) else None)
            for name in dict.fromkeys(declaration.capabilities)
        ),
        values=tuple(_value_out(declaration, name) for name in sorted(declaration.values)),
        launch=declaration.launch,
        state=state,
        problem=problem,
        version=kept.version if kept else "",
        looked_at=rfc3339_or_none(kept.looked_at if kept else None),
        run_id=kept.run_id if kept else None,
        left_out=kept.left_out if kept else (),
        folders=(
            *(f"read {inert(path)}" for path in declaration.folders.read),
            *(f"write {inert(path)}" for path in declaration.folders.write),
        ),
        confined=declaration.kind == "http" or landlock.version() >= landlock.FILES_FROM,
        sign_in=standing(sign_in),
        sign_in_problem=trouble(sign_in),
        tools=tuple(_tool_out(server, one) for one in pinned.pinned(tx, server.id)) if kept else (),
    )


def _value_out(declaration: Declaration, name: str) -> str:
    value = declaration.values[name]
    return name if isinstance(value, str) else f"{name} (the credential {value.name})"


def _stands(tx: ReadTx, server: McpServer, kept: Kept | None) -> tuple[ServerState, str]:
    if server.problem:
        return "off", server.problem
    if kept is None:
        return "new", ""
    if kept.launch != server.declaration.launch:
        return "changed", ""
    looking, problem = pinned.look_of(tx, kept.run_id)
    if looking:
        return "looking", ""
    return ("failed", problem) if problem else ("ready", "")


def _tool_out(server: McpServer, one: Pinned) -> ServerToolOut:
    tool = one.said.tool
    parts = _parts(one.said)
    was = _parts(one.agreed) if one.agreed is not None else {}
    changes = [ChangeOut(part=name, was=was[name], now=now) for name, now in parts.items() if was.get(name, now) != now]
    return ServerToolOut(
        name=tool_name(server.name, tool.name),
        tool=tool.name,
        title=parts["Title"],
        description=parts["Description"],
        schema=parts["What it takes"],
        hints=parts["Hints"],
        state=one.state,
        digest=one.digest,
        changes=tuple(changes) if one.state == "changed" else (),
    )


def _parts(said: Said) -> dict[str, str]:
    """In words, all that a digest covers except the values given to the server; no character in it is hidden."""
    tool = said.tool
    return {
        "Program or address": said.target,
        "Server's version": inert(said.version),
        "Title": inert(tool.title or ""),
        "Description": inert(tool.description),
        "What it takes": _json(tool.input_schema),
        "What it answers": _json(tool.output_schema),
        "Hints": _json(tool.annotations),
    }


def _json(value: object) -> str:
    return "" if value is None else inert(msgspec.json.format(msgspec.json.encode(value)).decode())


PROCEDURES: Final = (
    Procedure(
        name="mcp.servers",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[ServerOut],
        call=list_servers,
        summary="The MCP servers of the caller, how each stands, and its tools with what has changed.",
    ),
    Procedure(
        name="mcp.connect",
        kind="mutation",
        access="authenticated",
        input=ConnectInput,
        output=ConnectOut,
        call=connect,
        summary="Agree to how an MCP server is reached, and look at its tools.",
    ),
    Procedure(
        name="mcp.allow",
        kind="mutation",
        access="authenticated",
        input=AllowInput,
        output=Nothing,
        call=allow,
        summary="Agree to tools of an MCP server, as they were seen.",
    ),
    Procedure(
        name="mcp.forbid",
        kind="mutation",
        access="authenticated",
        input=ForbidInput,
        output=Nothing,
        call=forbid,
        summary="Take back the yes to tools of an MCP server.",
    ),
)
