"""The procedures of tools: the list of tools, the pages of memory, and a person's word that a page is their own."""

from __future__ import annotations

from typing import Any, Final, Literal

from svc.errors import Conflict, Forbidden, NotFound
from svc.pages import NO_PAGE, is_own, page_path, readable_page, tell_of_below
from svc.principal import Principal
from svc.protocol import NOTHING, Nothing, Procedure, Wire
from svc.store import ReadTx, Tx
from svc.tools.model import Level, Tool
from svc.tools.rows.memory import listed
from svc.tools.table import Tools
from svc.tools.taint import page_taint, trust_page, unvouched, written_by_run
from svc.workspace import RequestContext


class ToolOut(Wire, frozen=True):
    """``asks``: the tool can send, fetch, execute or change what others see, so a person may be asked first.
    ``readsOutside``: a run that has called it has text from outside.
    """

    name: str
    summary: str
    level: Level
    asks: bool
    reads_outside: bool
    schema: dict[str, Any]
    within_s: float
    max_output_bytes: int


class MemoryOut(Wire, frozen=True):
    """``from_outside``: a run that had text from outside has written the page."""

    name: str
    title: str
    from_outside: bool


class PathInput(Wire, frozen=True):
    path: str


class SetTrustedInput(Wire, frozen=True):
    """``revision``: the revision that the person has read. Another one is refused, because nobody has read it."""

    path: str
    revision: int | None = None


class TrustOut(Wire, frozen=True):
    """``by``: ``run`` if a run with text from outside has written the page; ``svc`` if svc wrote it, from mail (people,
    rules) or from speech; else ``person`` if another than its owner has.
    """

    from_outside: bool
    by: Literal["run", "svc", "person"] | None


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


async def set_trusted(context: RequestContext, wanted: SetTrustedInput) -> Nothing:
    await context.workspace.store.write(_set_trusted, context.principal, path=wanted.path, revision=wanted.revision)
    return NOTHING


def _trust(tx: ReadTx, principal: Principal, *, path: str) -> TrustOut:
    page = readable_page(tx, principal, page_path(path))
    if page is None:
        raise NotFound(NO_PAGE)
    if page_taint(tx, page.id):
        return TrustOut(from_outside=True, by="run" if written_by_run(tx, page.id) else "svc")
    is_of_others = bool(unvouched(tx, {page.id: page.revision}))
    return TrustOut(from_outside=is_of_others, by="person" if is_of_others else None)


def _set_trusted(tx: Tx, principal: Principal, *, path: str, revision: int | None) -> None:
    """Only in person, because a device's program could have been misled by such text. And only by the owner, because
    the page then counts as the owner's word, also once nobody else may write it.
    """
    if principal.via in {"device", "run"}:
        raise Forbidden("A person says this, in the app.")
    page = readable_page(tx, principal, page_path(path))
    if page is None:
        raise NotFound(NO_PAGE)
    if not is_own(principal, page.owner_id):
        raise Forbidden("Only its owner says so of a page.")
    if revision is not None and revision != page.revision:
        raise Conflict("The page has changed since you read it.", data={"revision": page.revision})
    trust_page(tx, page.id, revision=page.revision)
    tell_of_below(tx, principal, path=page.path, page_id=page.id, audience=page.owner_id)


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
        summary="Whether a page holds text from outside, and who has written it.",
    ),
    Procedure(
        name="pages.setTrusted",
        kind="mutation",
        access="authenticated",
        input=SetTrustedInput,
        output=Nothing,
        call=set_trusted,
        summary="A person has read the page, and its text is theirs from now on.",
    ),
)
