"""Header fields that repeat arguments of a call (newest edition), so that proxies on the way can route it.

A schema marks a property with ``x-mcp-header``; its value is sent in a field named ``Mcp-Param-`` and that name. A
value that a header field can't carry is sent in base64.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

PREFIX: Final = "mcp-param-"
MARK: Final = "x-mcp-header"
MAX_DEPTH: Final = 20
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}")
_PLAIN: Final = re.compile(r"[\x20-\x7e]*")
_WRAPPED: Final = re.compile(r"=\?base64\?.*\?=")
_KINDS: Final = frozenset({"string", "integer", "boolean"})


def flaw(schema: Mapping[str, Any]) -> str:
    """Why calls can't follow the marks in a schema; empty if there are no marks, or only valid ones."""
    seen: set[str] = set()
    for path, mark, kind in _marks(schema, ()):
        if not isinstance(mark, str) or not _TOKEN.fullmatch(mark) or kind not in _KINDS or mark.lower() in seen:
            return f"what it wants in a header ({'.'.join(path)[:100]}) can't be put there."
        seen.add(mark.lower())
    return ""


def headers_of(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path, mark, _ in _marks(schema, ()):
        value: Any = arguments
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, bool):
            value = "true" if value else "false"
        if isinstance(value, str | int | float):
            found[PREFIX + str(mark).lower()] = in_header(str(value))
    return found


def in_header(value: str) -> str:
    """The value itself, or in base64 if a header can't carry it."""
    if _PLAIN.fullmatch(value) and value == value.strip() and not _WRAPPED.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


def _marks(schema: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object, object]]:
    """The marks of properties that are nested only in ``properties``."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or len(path) >= MAX_DEPTH:
        return
    for name, inner in properties.items():
        if isinstance(inner, dict):
            if MARK in inner:
                yield (*path, name), inner[MARK], inner.get("type")
            yield from _marks(inner, (*path, name))
