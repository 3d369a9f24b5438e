"""What this half and the trusted plane agree on, and the faults of a server, in words for a person."""

from __future__ import annotations

from typing import Final

ORDER_PATH: Final = "/mcp-order"
"""Returns how a server is reached, for a run that may use it now. Below the broker's path."""
FOUND_PATH: Final = "/mcp-found"
"""Receives the tools of a server. Below the broker's path."""

CONNECT_S: Final = 60.0
"""An MCP server's start, its first answer and its list of tools. Beyond: it is given up."""
CALL_S: Final = 120.0
"""One call of an MCP server's tool. Beyond: it is given up, and whether it was done is not known."""
MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
"""One message of an MCP server. Beyond: the connection is ended, and the model is told."""
MAX_HEARD_BYTES: Final = 16 * 1024 * 1024
"""All that an MCP server says in one connection. Beyond: the connection is ended, and the model is told."""
MAX_TOOLS: Final = 200
"""Tools of one MCP server. Beyond: the first ones count, and the app says so."""
MAX_TOOL_BYTES: Final = 16 * 1024
"""The name, description and schemas of one tool of an MCP server, as JSON. Beyond: the tool is left out, and the app
says so."""
MAX_PAGES: Final = 50
"""Answers in which an MCP server may deliver its list of tools. Beyond: it is given up."""


class ServerFault(Exception):
    """The server can't be used, or gave no answer. ``sent``: the call was sent, so it may have been executed."""

    def __init__(self, words: str, *, sent: bool = False) -> None:
        super().__init__(words)
        self.sent = sent


class Refused(ServerFault):
    """The server understands the request and refuses it. ``code``: of JSON-RPC; ``data``: its further details."""

    def __init__(self, words: str, *, code: object, data: object = None) -> None:
        super().__init__(words)
        self.code = code if isinstance(code, int) else None
        self.data = data
