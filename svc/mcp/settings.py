"""The settings of MCP: where the command finds the service, its token, and the MCP servers of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

import msgspec

from svc.config import BadValue, Setting, text
from svc.mcp.declared import MAX_ARGS, NAME, Declaration

MAX_SERVERS: Final = 100
"""MCP servers that the environment declares. Beyond: the service does not start, and says so."""


class _Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(pattern=f"^{NAME.pattern}$")]
    command: Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
    args: Annotated[tuple[str, ...], msgspec.Meta(max_length=MAX_ARGS)] = ()


def _servers(value: str) -> Mapping[str, Declaration]:
    remedy = 'write [{"name": "notes", "command": "notes-mcp", "args": ["--dir", "/srv/notes"]}]'
    try:
        rows = msgspec.json.decode(value, type=tuple[_Row, ...])
    except msgspec.DecodeError as error:
        raise BadValue(f"it is no list of MCP servers ({error}); {remedy}") from None
    found = {row.name: Declaration(command=(row.command, *row.args)) for row in rows}
    if len(found) != len(rows) or len(found) > MAX_SERVERS:
        raise BadValue(f"each server has a name of its own, and there are {MAX_SERVERS} at most; {remedy}")
    return found


URL: Final[Setting[str]] = Setting(
    name="SVC_URL",
    parse=text,
    default="http://127.0.0.1:4780",
    type="URL",
    help="Where `svc mcp` finds the service.",
)
TOKEN: Final[Setting[str | None]] = Setting(
    name="SVC_TOKEN",
    parse=text,
    default=None,
    shown_default="unset",
    type="token",
    secret=True,
    help="The device token that `svc mcp` brings. A claimed instance refuses it without.",
)
SERVERS: Final[Setting[Mapping[str, Declaration]]] = Setting(
    name="SVC_MCP_SERVERS",
    parse=_servers,
    default=lambda values: {},
    shown_default="unset",
    type="JSON",
    help="MCP servers that are programs on this machine, as a JSON list of `name`, `command` and `args`, for admins. A "
    "page below `mcp/` wins by its name. See docs/mcp.md.",
)
SETTINGS: Final = (URL, TOKEN, SERVERS)
