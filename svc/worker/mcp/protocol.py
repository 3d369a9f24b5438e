"""The Model Context Protocol, as far as it is used here: JSON-RPC messages, their versions and their errors.

Theory. A message is JSON-RPC 2.0. Until 2025-11-25 a client first shakes hands (``initialize``); the next edition asks
``server/discover`` and names its version with each request. A server without sessions, as ours, serves both: each
request stands alone. Only tools are supported: no prompts, resources or sampling. Both sides use this module: our
server (:mod:`svc.mcp`) and our client, in this package.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

VERSIONS: Final = ("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Newest first."""
HANDSHAKE_VERSION: Final = "2025-11-25"
"""The newest version that begins with a handshake. Our client tries it first, because nearly every server knows it."""
MODERN_VERSION: Final = "2026-07-28"
"""The version without a handshake: each request names its version, and HTTP headers repeat what it asks."""
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
UNSUPPORTED_VERSION: Final = -32022
HEADER_MISMATCH: Final = -32020
META: Final = "io.modelcontextprotocol/"
"""The prefix of the protocol's own names in ``_meta``."""
MAX_MESSAGE_BYTES: Final = 1024 * 1024
"""One message of either side. Beyond: refused."""


class Message(msgspec.Struct, frozen=True):
    """Any message. ``id`` is missing in a notification."""

    jsonrpc: str = ""
    id: str | int | None = None
    method: str | None = None
    params: dict[str, Any] | None = None
    result: Any = None
    error: dict[str, Any] | None = None


class Fault(Exception):
    """An error that is sent as the answer to a message."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def read(data: bytes) -> Message:
    """Raises :class:`Fault`."""
    try:
        found = msgspec.json.decode(data, type=Message)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Fault(PARSE_ERROR, f"This is no JSON-RPC message: {error}") from None
    if found.jsonrpc != "2.0":
        raise Fault(INVALID_REQUEST, "A message says jsonrpc 2.0.")
    return found


def answer(id: str | int | None, result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def refusal(id: str | int | None, fault: Fault) -> dict[str, Any]:
    error: dict[str, Any] = {"code": fault.code, "message": str(fault)}
    if fault.data is not None:
        error["data"] = fault.data
    return {"jsonrpc": "2.0", "id": id, "error": error}
