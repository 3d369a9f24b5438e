"""``tasks.*``: the owner's list of tasks, kept as check boxes on a page of their own."""

from __future__ import annotations

import re
from typing import Annotated, Final

import msgspec

from svc.errors import Conflict, NotFound
from svc.inert import inert
from svc.pages import make_private, openness, page_text, readable_page, save_page
from svc.principal import Principal
from svc.store import ReadTx, Tx
from svc.tools.cards import row
from svc.tools.model import CardRow, Outcome, Tool, ToolInput
from svc.tools.rows.pages import outside_of, why_sink, why_sinks
from svc.workspace import Workspace

TITLE: Final = "Tasks"
MAX_LISTED: Final = 500
_TASK: Final = re.compile(r"^\s*[-*] \[([ xX])\] (.*)$")

Words = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]


class ListInput(ToolInput, frozen=True):
    done: bool = False


class AddInput(ToolInput, frozen=True):
    title: Words


class DoneInput(ToolInput, frozen=True):
    title: Words


def path_of(principal: Principal) -> str:
    """The path of the person's own list."""
    return "tasks" if principal.user_id is None else f"tasks/{principal.user_id}"


def _list(workspace: Workspace, tx: Tx, principal: Principal, wanted: ListInput) -> Outcome:
    page = readable_page(tx, principal, path_of(principal))
    if page is None:
        return Outcome(output={"tasks": []})
    lines = page_text(tx, page_id=page.id, revision=page.revision).split("\n")
    found = [one.groups() for line in lines if (one := _TASK.match(line))]
    tasks = [{"title": inert(title), "done": mark != " "} for mark, title in found if wanted.done or mark == " "]
    return Outcome(output={"tasks": tasks[:MAX_LISTED]}, outside=outside_of(tx, principal, page))


def add(tx: Tx, principal: Principal, *, title: str) -> str:
    """Add a task at the end of the list. Returns the path of its page."""
    path, line = path_of(principal), f"- [ ] {' '.join(title.split())}"
    page = readable_page(tx, principal, path)
    if page is None:
        if make_private(tx, principal, owner_id=principal.user_id, path=path, title=TITLE, body=line) is None:
            raise Conflict(f"The page {path} is somebody else's.")
        return path
    body = page_text(tx, page_id=page.id, revision=page.revision)
    save_page(tx, principal, path=path, title=None, body=f"{body.rstrip()}\n{line}" if body.strip() else line)
    return path


def _add(workspace: Workspace, tx: Tx, principal: Principal, wanted: AddInput) -> Outcome:
    return Outcome(output={"path": add(tx, principal, title=wanted.title)})


def _done(workspace: Workspace, tx: Tx, principal: Principal, wanted: DoneInput) -> Outcome:
    path = path_of(principal)
    page = readable_page(tx, principal, path)
    lines = [] if page is None else page_text(tx, page_id=page.id, revision=page.revision).split("\n")
    for number, line in enumerate(lines):
        found = _TASK.match(line)
        if found and found.group(1) == " " and inert(found.group(2)).strip() == inert(wanted.title).strip():
            lines[number] = line.replace("[ ]", "[x]", 1)
            save_page(tx, principal, path=path, title=None, body="\n".join(lines))
            return Outcome(output={"done": wanted.title})
    raise NotFound("There is no such open task.")


def _sink(tx: ReadTx, principal: Principal, wanted: AddInput | DoneInput) -> str | None:
    """No sink while the list is a private page of the owner."""
    return why_sink(tx, principal, path_of(principal)) if _is_open(tx, principal) else None


def _is_open(tx: ReadTx, principal: Principal) -> bool:
    path = path_of(principal)
    there = readable_page(tx, principal, path)
    return there is not None and not openness(tx, principal, path).is_private


def _marks(tx: ReadTx, principal: Principal) -> tuple[str, ...]:
    return why_sinks(tx, principal, path_of(principal)) if _is_open(tx, principal) else ()


def _card(tx: ReadTx, principal: Principal, wanted: AddInput | DoneInput) -> tuple[CardRow, ...]:
    return (row("Task", wanted.title), row("On the page", path_of(principal), *_marks(tx, principal)))


TOOLS: Final = (
    Tool(
        name="tasks.list",
        summary="List the owner's open tasks; with done, also the completed ones.",
        input=ListInput,
        level="read",
        decide=_list,
    ),
    Tool(
        name="tasks.add",
        summary="Add a task to the owner's list.",
        input=AddInput,
        level="full",
        decide=_add,
        sink=_sink,
        card=_card,
    ),
    Tool(
        name="tasks.done",
        summary="Tick off a task, by its title.",
        input=DoneInput,
        level="full",
        decide=_done,
        sink=_sink,
        card=_card,
    ),
)
