"""Reads an agent's page. An error is reported with its line, and the last valid version stays in force."""

from __future__ import annotations

import json
import re
from typing import Final, cast

from svc.agents.model import (
    DEFAULT_TOOLS,
    FOLDER,
    LEAST_EVERY_MS,
    MAX_CEILING_DOLLARS,
    UNITS,
    WEEKDAYS,
    Definition,
    Schedule,
)
from svc.configuring import Fault, Fields, Kind
from svc.models import MICROS
from svc.tools import Approval

_FIELDS: Final = frozenset({"model", "tools", "approvals", "schedule", "triggers", "ceiling"})
_TOOL: Final = re.compile(r"[A-Za-z0-9_.*-]{1,200}")
_EVERY: Final = re.compile(r"every (?:(\d{1,4}) )?(minute|hour|day)s?")
_AT: Final = re.compile(rf"(daily|{'|'.join(f'{day}s?' for day in WEEKDAYS)}) at (\d\d):(\d\d)")
_DOLLARS: Final = re.compile(r"\d{1,4}(?:\.\d{1,6})?")
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
        ceiling_micros=_ceiling(fields),
    )


def _is_empty(fields: Fields, name: str) -> bool:
    """Whether the field is given and empty: an agent without tools."""
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
        return Schedule(every_ms=every_ms, said=said)
    if at := _AT.fullmatch(said):
        hour, minute = int(at.group(2)), int(at.group(3))
        if hour < _HOURS and minute < _MINUTES:
            day = at.group(1).rstrip("s")
            weekday = None if day == "daily" else WEEKDAYS.index(day)
            return Schedule(minute=hour * _MINUTES + minute, weekday=weekday, said=said)
    raise Fault("a schedule is: every 30 minutes, every 2 hours, daily at 07:30, mondays at 07:30 (UTC)", line)


def _triggers(fields: Fields) -> tuple[str, ...]:
    found = fields.texts("triggers")
    for one in found:
        if one != "mail" and not (one.startswith(_PAGE) and one[len(_PAGE) :].strip()):
            raise Fault("a trigger is mail, or page: and a path such as notes/*", fields.line_of("triggers"))
    return tuple(one if one == "mail" else f"{_PAGE}{one[len(_PAGE) :].strip()}" for one in found)


def _ceiling(fields: Fields) -> int | None:
    said = fields.text("ceiling")
    if said is None:
        return None
    if not _DOLLARS.fullmatch(said) or float(said) > MAX_CEILING_DOLLARS:
        raise Fault(f"ceiling is dollars for one run, such as 0.50, and {MAX_CEILING_DOLLARS} at most", 1)
    return round(float(said) * MICROS)


def written(wanted: Definition) -> str:
    """The text of an agent's page. :func:`read` turns it into the same agent again."""
    lines = ["---"]
    if wanted.model is not None:
        lines.append(f"model: {_quoted(wanted.model)}")
    if wanted.tools != DEFAULT_TOOLS:
        lines.append(f"tools: [{', '.join(map(_quoted, wanted.tools))}]")
    if wanted.approvals:
        lines.append("approvals:")
        lines += [f"  {_quoted(name)}: {word}" for name, word in wanted.approvals.items()]
    if wanted.schedule is not None:
        lines.append(f"schedule: {_quoted(wanted.schedule.said)}")
    if wanted.triggers:
        lines.append(f"triggers: [{', '.join(map(_quoted, wanted.triggers))}]")
    if wanted.ceiling_micros is not None:
        lines.append(f'ceiling: "{wanted.ceiling_micros / MICROS:f}"')
    head = [*lines, "---"] if len(lines) > 1 else []
    return "\n".join([*head, wanted.instructions.strip(), ""])


def _quoted(text: str) -> str:
    """In double quotes, YAML writes a text as JSON does."""
    return json.dumps(text, ensure_ascii=False)


AGENTS: Final[Kind[Definition]] = Kind(folder=FOLDER, read=read, in_plugins="agent")
