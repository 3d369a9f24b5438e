"""The keys of MCP servers: credentials named ``mcp.`` and a word. No row declares them, because any page may
name one.
"""

from __future__ import annotations

import re
from typing import Final

from svc.capability import Capability, CredentialField
from svc.config import Setting, text

_NAME: Final = re.compile(r"mcp\.[a-z0-9][a-z0-9._-]{0,79}")
_NO_SETTING: Final[Setting[str | None]] = Setting(
    name="", parse=text, default=None, type="", help="No variable seeds it.", secret=True
)


def of_server(name: str) -> Capability | None:
    """The row of such a credential; ``None`` for other names."""
    if not _NAME.fullmatch(name):
        return None
    return Capability(
        name=name,
        title=f"MCP servers: {name}",
        purpose="What a page under mcp/ names as {capability: NAME}: a variable of the program, or a header.",
        obtain="At the service that the MCP server stands for. For a header it is the whole value, such as Bearer …",
        fields=(CredentialField(name="value", label="Value", setting=_NO_SETTING),),
    )
