"""Reading an agent's page. What is wrong is told with its line, and the last whole version stays in force."""

from __future__ import annotations

import re
from typing import Final, cast

from svc.agents.model import (
    DEFAULT_TOOLS,
    FOLDER,
    LEAST_EVERY_MS,
    UNITS,
    WEEKDAYS,
    Definition,
    Schedule,
)
from svc.configuring import Fault, Fields, Kind
from svc.tools import Approval

_FIELDS: Final = frozenset({"model", "tools", "approvals", "schedule", "triggers"})
_TOOL: Final = re.compile(r"[A-Za-z0-9_.*-]{1,200}")
_EVERY: Final = re.compile(r"every (?:(\d{1,4}) )?(minute|hour|day)s?")
_AT: Final = re.compile(rf"(daily|{'|'.join(f'{day}s?' for day in WEEKDAYS)}) at (\d\d):(\d\d)")
_HOURS, _MINUTES = 24, 60
_PAGE: Final = "page:"
ANY: Final = "*"


def read(fields: Fields, text: str) -> Definition:
    fields.only(_FIELDS, of="an agent")
    if not text.strip():
        raise Fault("an agent needs instructions: the text of the page")
    tools = fields.texts("tools") if "tools" in fields.nodes and not _is_empty(fields, "tools") else None
    for tool in tools or ():
        if not _TOOL.fullmatch(tool):
            raise Fault(f"{tool} is no name of a tool, such as mail.read or mail.*", fields.line_of("tools"))
    return Definition(
        instructions=text.strip(),
        model=fields.text("model"),
        tools=() if _is_empty(fields, "tools") else tools or DEFAULT_TOOLS,
        approvals=_approvals(fields),
        schedule=_schedule(fields),
        triggers=_triggers(fields),
    )


def _is_empty(fields: Fields, name: str) -> bool:
    """Said, and said to be none: an agent without tools."""
    node = fields.nodes.get(name)
    return node is not None and isinstance(node.value, list) and not node.value


def _approvals(fields: Fields) -> dict[str, Approval]:
    node = fields.nodes.get("approvals")
    if node is None:
        return {}
    if isinstance(node.value, str):
        return {ANY: _approval(node.value, node.line)}
    found = fields.mapping("approvals")
    return {name: _approval(found.text(name) or "", found.line_of(name)) for name in found.nodes}


def _approval(word: str, line: int) -> Approval:
    if word not in {"ask", "auto"}:
        raise Fault("approvals are ask or auto, for all tools or for each", line)
    return cast(Approval, word)


def _schedule(fields: Fields) -> Schedule | None:
    said = fields.text("schedule")
    if said is None:
        return None
    line = fields.line_of("schedule")
    if every := _EVERY.fullmatch(said):
        every_ms = int(every.group(1) or 1) * UNITS[every.group(2)]
        if every_ms < LEAST_EVERY_MS:
            raise Fault("a schedule is every 5 minutes at the most often", line)
        return Schedule(every_ms=every_ms)
    if at := _AT.fullmatch(said):
        hour, minute = int(at.group(2)), int(at.group(3))
        if hour < _HOURS and minute < _MINUTES:
            day = at.group(1).rstrip("s")
            return Schedule(minute=hour * _MINUTES + minute, weekday=None if day == "daily" else WEEKDAYS.index(day))
    raise Fault("a schedule is: every 30 minutes, every 2 hours, daily at 07:30, mondays at 07:30 (UTC)", line)


def _triggers(fields: Fields) -> tuple[str, ...]:
    found = fields.texts("triggers")
    for one in found:
        if one != "mail" and not (one.startswith(_PAGE) and one[len(_PAGE) :].strip()):
            raise Fault("a trigger is mail, or page: and a path such as notes/*", fields.line_of("triggers"))
    return tuple(one if one == "mail" else f"{_PAGE}{one[len(_PAGE) :].strip()}" for one in found)


AGENTS: Final[Kind[Definition]] = Kind(folder=FOLDER, read=read)
