"""One connection to an MCP server, over any channel: the handshake, the list of tools, one call.

The server is not trusted: each answer has a size limit, an answer of another form is refused with a reason, and the
server's own requests are refused too (we offer nothing).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import Any, Final, Protocol

import msgspec

from svc import __version__
from svc.inert import inert
from svc.worker.mcp import protocol
from svc.worker.mcp.param_headers import flaw, headers_of, in_header
from svc.worker.mcp.pins import Listed, Seen
from svc.worker.mcp.terms import MAX_PAGES, MAX_TOOL_BYTES, MAX_TOOLS, Refused, ServerFault

MAX_NAME_CHARS: Final = 128
MAX_WORDS_CHARS: Final = 300
"""The server's words about itself or its fault, for people. Longer ones are cut."""
_NAME_CHARS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_CALL: Final = "tools/call"
_COMPLETE: Final = "complete"
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_ABOUT_US: Final = {"name": "svc", "version": __version__}
_META: Final = {
    f"{protocol.META}protocolVersion": protocol.MODERN_VERSION,
    f"{protocol.META}clientInfo": _ABOUT_US,
    f"{protocol.META}clientCapabilities": {},
}
_KNOWS_NO_HANDSHAKE: Final = frozenset(
    {
        protocol.UNSUPPORTED_VERSION,
        protocol.METHOD_NOT_FOUND,
        protocol.INVALID_PARAMS,
        protocol.INVALID_REQUEST,
        protocol.HEADER_MISMATCH,
    }
)
"""Errors with which a server of the newest edition may answer ``initialize``, since that lacks what each of its
requests must have."""


class Channel(Protocol):
    """Carries messages. Each of these methods raises :class:`ServerFault`."""

    async def ask(self, id: int, message: bytes, *, about: Mapping[str, str]) -> protocol.Message:
        """The answer to that request. ``about``: header fields to send with it, if the channel has headers."""
        ...

    async def tell(self, message: bytes) -> None: ...

    def speaks(self, version: str) -> None:
        """Set the version that both sides use. ``MODERN_VERSION`` has no handshake."""
        ...


class ToolAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A tool's answer, as text. ``failed``: the tool itself reported an error."""

    text: str
    failed: bool


@dataclass
class Client:
    channel: Channel

    def __post_init__(self) -> None:
        self._ids = count(1)
        self._is_modern = False

    async def greet(self) -> Seen:
        """Agree on a version that both sides know. Returns the server's name and version."""
        try:
            said = await self._ask(
                "initialize",
                {"protocolVersion": protocol.HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": _ABOUT_US},
            )
        except Refused as refused:
            if refused.code not in _KNOWS_NO_HANDSHAKE:
                raise
            return await self._discover(refused)
        version = said.get("protocolVersion")
        if version not in protocol.VERSIONS:
            raise ServerFault(f"It speaks version {words(version)} of the protocol, which is not spoken here.")
        self.channel.speaks(str(version))
        await self.channel.tell(_encoded({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        return _seen(said.get("serverInfo"))

    async def _discover(self, refused: Refused) -> Seen:
        """The server knows no handshake: try the newest edition, which asks ``server/discover``."""
        self._is_modern = True
        self.channel.speaks(protocol.MODERN_VERSION)
        try:
            said = await self._ask("server/discover", {})
        except Refused as again:
            spoken = again.data.get("supported") if isinstance(again.data, dict) else None
            if again.code == protocol.UNSUPPORTED_VERSION and isinstance(spoken, list):
                raise ServerFault(_not_spoken(spoken)) from None
            raise ServerFault(str(refused)) from None
        spoken = said.get("supportedVersions")
        if not isinstance(spoken, list) or protocol.MODERN_VERSION not in spoken:
            raise ServerFault(_not_spoken(spoken))
        meta = said.get("_meta")
        info = meta.get(f"{protocol.META}serverInfo") if isinstance(meta, dict) else None
        return _seen(info or said.get("serverInfo"))

    async def tools(self) -> tuple[tuple[Listed, ...], tuple[str, ...]]:
        """The tools that the server offers, and the reasons why some are left out."""
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
                tool = _listed(row, is_modern=self._is_modern)
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

    async def call(self, tool: Listed, arguments: Mapping[str, Any]) -> ToolAnswer:
        about = headers_of(tool.input_schema, arguments) if self._is_modern else {}
        try:
            said = await self._ask(_CALL, {"name": tool.name, "arguments": arguments}, about=about)
        except ServerFault as fault:
            raise ServerFault(str(fault), sent=True) from None
        return ToolAnswer(text=_text(said), failed=said.get("isError") is True)

    async def _ask(
        self, method: str, params: Mapping[str, Any], *, about: Mapping[str, str] = _NOTHING
    ) -> dict[str, Any]:
        number = next(self._ids)
        given, fields = dict(params), dict(about)
        if self._is_modern:
            given["_meta"] = _META
            fields |= {"mcp-method": method, **({"mcp-name": in_header(params["name"])} if method == _CALL else {})}
        asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
        answer = await self.channel.ask(number, _encoded(asked), about=fields)
        if answer.error is not None:
            raise Refused(
                f"It refuses: {words(answer.error.get('message', 'it says not why'))}",
                code=answer.error.get("code"),
                data=answer.error.get("data"),
            )
        if not isinstance(answer.result, dict):
            raise ServerFault(f"What it answers to {method} is no answer.")
        if answer.result.get("resultType", _COMPLETE) != _COMPLETE:
            raise ServerFault("It wants to be told something before it goes on, which svc does not do.")
        return answer.result


def _encoded(message: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(message)


def words(said: object) -> str:
    """A server's own words, for people: one line, short, and without hidden characters."""
    return " ".join(inert(said if isinstance(said, str) else repr(said)).split())[:MAX_WORDS_CHARS]


def _seen(info: object) -> Seen:
    info = info if isinstance(info, dict) else {}
    return Seen(version=words(info.get("version", "")), title=words(info.get("title") or info.get("name", "")))


def _not_spoken(versions: object) -> str:
    said = ", ".join(words(one) for one in versions[:10]) if isinstance(versions, list) else words(versions)
    return f"It speaks {said or 'no version'} of the protocol, which is not spoken here."


def _listed(row: object, *, is_modern: bool) -> Listed | str:
    """The tool, or the reason why it is left out."""
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
    if is_modern and (wrong := flaw(tool.input_schema)):
        return f"{shown}: {wrong}"
    if len(msgspec.json.encode(tool)) > MAX_TOOL_BYTES:
        return f"{shown}: it is described in more than {MAX_TOOL_BYTES} bytes."
    return tool


def _text(said: Mapping[str, Any]) -> str:
    """The text for the model. Pictures and sounds are named, not passed on. Raises :class:`ServerFault`."""
    content = said.get("content", [])
    if not isinstance(content, list):
        raise ServerFault(f"What it answers to {_CALL} is no answer.", sent=True)
    parts = [_part(one) for one in content]
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
