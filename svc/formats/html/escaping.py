"""Escapes text and attribute values for the output, and has the attributes that each link gets."""

from __future__ import annotations

import re
from typing import Final

LINK_ATTRIBUTES: Final = ' target="_blank" rel="noopener noreferrer"'
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_SURROGATES: Final = re.compile(r"[\ud800-\udfff]")


def escape_text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_attribute(value: str) -> str:
    return escape_text(value).replace('"', "&quot;")


def printable(text: str) -> str:
    """The text without characters that no HTML document may hold: control characters and lone surrogates."""
    text = text.replace("\r", "\n").replace("\f", " ")
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", text))
