"""One connection to an MCP server, over whatever channel: the handshake, the list of tools, one call.

Nothing that the server says is believed: each answer has a bound, what has another form is refused in words, and what
it asks of us (we offer nothing) is refused, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Protocol

import msgspec

from svc import __version__
from svc.inert import inert
from svc.worker.mcp import protocol
from svc.worker.mcp.pins import Listed, Seen
from svc.worker.mcp.terms import MAX_PAGES, MAX_TOOL_BYTES, MAX_TOOLS, ServerFault

MAX_NAME_CHARS: Final = 128
MAX_WORDS_CHARS: Final = 300
"""Of what a server says of itself or of its fault, where a person reads it."""
_NAME_CHARS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_CALL: Final = "tools/call"


class Channel(Protocol):
    """Carries messages. Each of these raises :class:`ServerFault`."""

    async def ask(self, id: int, message: bytes) -> protocol.Message:
        """The answer to that request."""
        ...

    async def tell(self, message: bytes) -> None: ...

    def speaks(self, version: str) -> None:
        """What was agreed on in the handshake."""
        ...


class ToolAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool answered, as text. ``failed``: by its own word."""

    text: str
    failed: bool


@dataclass
class Client:
    channel: Channel

    def __post_init__(self) -> None:
        self._ids = count(1)

    async def greet(self) -> Seen:
        """Shake hands; its name and version."""
        about = {"name": "svc", "version": __version__}
        said = await self._ask(
            "initialize",
            {"protocolVersion": protocol.HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": about},
        )
        version = said.get("protocolVersion")
        if version not in protocol.VERSIONS:
            raise ServerFault(f"It speaks version {words(version)} of the protocol, which is not spoken here.")
        self.channel.speaks(str(version))
        await self.channel.tell(_encoded({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        info = said.get("serverInfo")
        info = info if isinstance(info, dict) else {}
        return Seen(version=words(info.get("version", "")), title=words(info.get("title") or info.get("name", "")))

    async def tools(self) -> tuple[tuple[Listed, ...], tuple[str, ...]]:
        """What it offers, and why some of it is left out."""
        found: dict[str, Listed] = {}
        left_out: list[str] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            said = await self._ask("tools/list", {} if cursor is None else {"cursor": cursor})
            rows = said.get("tools")
            if not isinstance(rows, list):
                raise ServerFault("Its list of tools is none.")
            for row in rows:
                if len(found) >= MAX_TOOLS:
                    return tuple(found.values()), (*left_out[:MAX_TOOLS], f"It has more than {MAX_TOOLS} tools.")
                tool = _listed(row)
                if isinstance(tool, str):
                    left_out.append(tool)
                elif tool.name in found:
                    left_out.append(f"{tool.name} is listed twice: the first one counts.")
                else:
                    found[tool.name] = tool
            cursor = said.get("nextCursor")
            if cursor is None or cursor == "":
                return tuple(found.values()), tuple(left_out[:MAX_TOOLS])
            if not isinstance(cursor, str) or len(cursor) > MAX_TOOL_BYTES:
                raise ServerFault("Its list of tools can't be followed.")
        raise ServerFault(f"Its list of tools has no end after {MAX_PAGES} answers.")

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        try:
            said = await self._ask(_CALL, {"name": name, "arguments": arguments})
        except ServerFault as fault:
            raise ServerFault(str(fault), sent=True) from None
        return ToolAnswer(text=_text(said), failed=said.get("isError") is True)

    async def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        number = next(self._ids)
        asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}
        answer = await self.channel.ask(number, _encoded(asked))
        if answer.error is not None:
            raise ServerFault(f"It refuses: {words(answer.error.get('message', 'it says not why'))}")
        if not isinstance(answer.result, dict):
            raise ServerFault(f"What it answers to {method} is no answer.")
        return answer.result


def _encoded(message: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(message)


def words(said: object) -> str:
    """A server's own words where a person reads them: one line, short, and nothing that hides."""
    return " ".join(inert(said if isinstance(said, str) else repr(said)).split())[:MAX_WORDS_CHARS]


def _listed(row: object) -> Listed | str:
    """Or why it is left out."""
    name = row.get("name") if isinstance(row, dict) else None
    shown = words(name if isinstance(name, str) else "A tool without a name")[:MAX_NAME_CHARS]
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_CHARS or not _NAME_CHARS.issuperset(name):
        return f"{shown}: its name is none that a tool may have."
    try:
        tool = msgspec.convert(row, Listed)
    except msgspec.ValidationError as error:
        return f"{shown}: {words(str(error))}."
    if tool.input_schema.get("type") != "object":
        return f"{shown}: what it takes is no object."
    if len(msgspec.json.encode(tool)) > MAX_TOOL_BYTES:
        return f"{shown}: it is described in more than {MAX_TOOL_BYTES} bytes."
    return tool


def _text(said: Mapping[str, Any]) -> str:
    """What the model reads of it. Pictures and sounds are named, not handed on."""
    content = said.get("content")
    parts = [_part(one) for one in content] if isinstance(content, list) else []
    if not any(parts) and said.get("structuredContent") is not None:
        parts = [msgspec.json.encode(said["structuredContent"]).decode()]
    return inert("\n".join(part for part in parts if part))


def _part(one: object) -> str:
    if not isinstance(one, dict):
        return ""
    resource = one.get("resource")
    match one.get("type"):
        case "text":
            return str(one.get("text", ""))
        case "resource" if isinstance(resource, dict) and isinstance(resource.get("text"), str):
            return str(resource["text"])
        case "resource_link":
            return f"[{words(one.get('name', ''))}: {words(one.get('uri', ''))}]"
        case kind:
            return f"[{words(kind)}, {words(one.get('mimeType', 'of no kind'))}, which is not shown]"
