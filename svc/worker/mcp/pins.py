"""What a person agrees to: a tool exactly as its server describes it, of exactly this server."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec


class Listed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One tool, in its server's words. Other fields of its description are dropped."""

    name: str
    title: str | None = None
    description: str = ""
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None


class Seen(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of one inspection. ``left_out``: why tools are missing, in words."""

    version: str = ""
    title: str = ""
    tools: tuple[Listed, ...] = ()
    left_out: tuple[str, ...] = ()


def digest_of(launch: str, version: str, tool: Listed) -> str:
    """The identity of a tool. Another description, schema, hint, program, address or version makes another tool, which
    nobody has agreed to.

    ``launch``: the digest of how the server is reached.
    """
    said = msgspec.json.encode([launch, version, msgspec.to_builtins(tool)], order="sorted")
    return hashlib.sha256(said).hexdigest()
