"""``memory.*``: notes of agents, as pages under ``memory/`` that only their owner reads, edits and deletes."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from svc.errors import Conflict
from svc.inert import inert
from svc.pages import Page, delete_page, make_private, page_text, page_tree, save_page
from svc.pages import readable_page as page_at
from svc.principal import Principal
from svc.store import ReadTx, Tx
from svc.tools.cards import row
from svc.tools.model import CardRow, Outcome, Tool, ToolInput
from svc.tools.rows.pages import outside_of, page_rows, seen
from svc.tools.taint import page_taint
from svc.workspace import Workspace

TOP: Final = "memory"
MAX_LISTED: Final = 500
"""Pages of memory that a tool lists. Beyond: the first ones."""
MAX_MEMORY_CHARS: Final = 32_000
"""Characters of one memory page that a tool writes. Beyond: refused, and the model is told."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100, pattern=r"^[^/\x00-\x1f]+$")]


class NameInput(ToolInput, frozen=True):
    name: Name


class ListInput(ToolInput, frozen=True):
    pass


class WriteInput(ToolInput, frozen=True):
    name: Name
    body: Annotated[str, msgspec.Meta(max_length=MAX_MEMORY_CHARS)]


def _path(name: str) -> str:
    return f"{TOP}/{name}"


def listed(tx: ReadTx, principal: Principal) -> list[dict[str, object]]:
    """The memory pages that the caller may read. Pages written from outside text are marked."""
    return [
        {"name": page.path.removeprefix(f"{TOP}/"), "title": inert(page.title), "fromOutside": page_taint(tx, page.id)}
        for page in _pages(tx, principal)
    ]


def _pages(tx: ReadTx, principal: Principal) -> list[Page]:
    return [page for page, _ in page_tree(tx, principal, TOP)[:MAX_LISTED]]


def _list(workspace: Workspace, tx: Tx, principal: Principal, wanted: ListInput) -> Outcome:
    found = listed(tx, principal)
    is_tainted = any(one["fromOutside"] for one in found)
    if not is_tainted:  # any user of the instance may name a page there
        is_tainted = any(outside_of(tx, principal, page, title_alone=True) for page in _pages(tx, principal))
    outside = "the names of memory pages" if is_tainted else None
    return Outcome(output={"memory": found}, outside=outside)


def _read(workspace: Workspace, tx: Tx, principal: Principal, wanted: NameInput) -> Outcome:
    page = seen(tx, principal, _path(wanted.name))
    body = page_text(tx, page_id=page.id, revision=page.revision)
    said = {"name": wanted.name, "body": inert(body), "fromOutside": page_taint(tx, page.id)}
    return Outcome(output=said, outside=outside_of(tx, principal, page))


def _write(workspace: Workspace, tx: Tx, principal: Principal, wanted: WriteInput) -> Outcome:
    path = _path(wanted.name)
    if page_at(tx, principal, path) is not None:
        saved = save_page(tx, principal, path=path, title=None, body=wanted.body)
        return Outcome(output={"path": path, "id": saved.id})
    made = make_private(tx, principal, owner_id=principal.user_id, path=path, title=wanted.name, body=wanted.body)
    if made is None:
        raise Conflict("Somebody else has a memory of that name: choose another.")
    return Outcome(output={"path": path, "id": made})


def _delete(workspace: Workspace, tx: Tx, principal: Principal, wanted: NameInput) -> Outcome:
    delete_page(tx, principal, path=_path(wanted.name))
    return Outcome(output={"deleted": _path(wanted.name)})


def _sink(tx: ReadTx, principal: Principal, wanted: object) -> str | None:
    return "Later runs read what is kept there."


def _write_card(tx: ReadTx, principal: Principal, wanted: WriteInput) -> tuple[CardRow, ...]:
    return page_rows(tx, principal, path=_path(wanted.name), body=wanted.body, title=None)


def _delete_card(tx: ReadTx, principal: Principal, wanted: NameInput) -> tuple[CardRow, ...]:
    page = seen(tx, principal, _path(wanted.name))
    return (row("Memory", page.path), row("Text", page_text(tx, page_id=page.id, revision=page.revision)))


TOOLS: Final = (
    Tool(
        name="memory.list",
        summary="List the names of the texts in memory.",
        input=ListInput,
        level="read",
        decide=_list,
    ),
    Tool(name="memory.read", summary="Read one page of memory.", input=NameInput, level="read", decide=_read),
    Tool(
        name="memory.write",
        summary="Save text in memory for later runs, under a name. Text with the same name is replaced.",
        input=WriteInput,
        level="full",
        decide=_write,
        sink=_sink,
        card=_write_card,
    ),
    Tool(
        name="memory.delete",
        summary="Delete one page of memory.",
        input=NameInput,
        level="full",
        decide=_delete,
        sink=_sink,
        card=_delete_card,
    ),
)
