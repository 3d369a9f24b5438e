"""The procedures of tools: what there is, what is kept in memory, and a person's word that a page is theirs."""

from __future__ import annotations

from typing import Any, Final

from svc.errors import Forbidden, NotFound
from svc.pages import NO_PAGE, page_path, readable_page
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure, Wire
from svc.store import ReadTx, Tx
from svc.tools.model import Level, Tool
from svc.tools.rows.memory import listed
from svc.tools.table import Tools
from svc.tools.taint import page_taint, trust_page
from svc.workspace import RequestContext


class ToolOut(Wire, frozen=True):
    """``asks``: it can send, fetch, execute or change what others see, so a person may be asked before it does.
    ``readsOutside``: a run that has called it has text from outside."""

    name: str
    summary: str
    level: Level
    asks: bool
    reads_outside: bool
    schema: dict[str, Any]
    within_s: float
    max_output_bytes: int


class MemoryOut(Wire, frozen=True):
    """``from_outside``: a run that had text from outside has written there."""

    name: str
    title: str
    from_outside: bool


class PathInput(Wire, frozen=True):
    path: str


class TrustOut(Wire, frozen=True):
    from_outside: bool


def tool_out(tool: Tool) -> ToolOut:
    return ToolOut(
        name=tool.name,
        summary=tool.summary,
        level=tool.level,
        asks=tool.sink is not None,
        reads_outside=tool.reads_outside is not None,
        schema=tool.schema,
        within_s=tool.within_s,
        max_output_bytes=tool.max_output_bytes,
    )


async def list_tools(context: RequestContext, wanted: Nothing) -> list[ToolOut]:
    tools = await context.workspace.store.read(context.workspace.service(Tools).of, context.principal)
    return [tool_out(tools[name]) for name in sorted(tools)]


async def memory(context: RequestContext, wanted: Nothing) -> list[MemoryOut]:
    found = await context.workspace.store.read(listed, context.principal)
    return [
        MemoryOut(name=str(one["name"]), title=str(one["title"]), from_outside=bool(one["fromOutside"]))
        for one in found
    ]


async def trust(context: RequestContext, wanted: PathInput) -> TrustOut:
    return await context.workspace.store.read(_trust, context.principal, path=wanted.path)


async def set_trusted(context: RequestContext, wanted: PathInput) -> Nothing:
    await context.workspace.store.write(_set_trusted, context.principal, path=wanted.path)
    return NOTHING


def _trust(tx: ReadTx, principal: Principal, *, path: str) -> TrustOut:
    page = readable_page(tx, principal, page_path(path))
    if page is None:
        raise NotFound(NO_PAGE)
    return TrustOut(from_outside=page_taint(tx, page.id))


def _set_trusted(tx: Tx, principal: Principal, *, path: str) -> None:
    """Only in person: a device's program could be the one that was talked into it."""
    if principal.via in {"device", "run"}:
        raise Forbidden("A person says this, in the app.")
    page = readable_page(tx, principal, page_path(path))
    if page is None:
        raise NotFound(NO_PAGE)
    if not page.can_write:
        raise Forbidden("The page is shared with you for reading.")
    trust_page(tx, page.id)


PROCEDURES: Final = (
    Procedure(
        name="tools.list",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[ToolOut],
        call=list_tools,
        summary="The tools that agents and MCP clients of the caller may use.",
    ),
    Procedure(
        name="memory.list",
        kind="query",
        access="authenticated",
        input=Nothing,
        output=list[MemoryOut],
        call=memory,
        summary="What agents keep for the caller, as pages under memory/.",
    ),
    Procedure(
        name="pages.trust",
        kind="query",
        access="authenticated",
        input=PathInput,
        output=TrustOut,
        call=trust,
        summary="Whether a run with text from outside has written a page.",
    ),
    Procedure(
        name="pages.setTrusted",
        kind="mutation",
        access="authenticated",
        input=PathInput,
        output=Nothing,
        call=set_trusted,
        summary="A person has read the page, and its text is theirs from now on.",
    ),
)
