"""Cleans inline styles, declaration by declaration, token by token: what is not known to be harmless is dropped.

This is a small strict reader, not a CSS parser. It need not agree with a browser on the meaning of the sender's style,
because its output is built from known tokens (names, bounded numbers, colours, plain strings, balanced functions),
which mean the same everywhere. They can't form an address, an at-rule, an escape or a comment. ``!important`` is
dropped, so that the frame's own style sheet has the last word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MAX_STYLE_CHARS: Final = 16_384
MAX_DECLARATIONS: Final = 200
MAX_FUNCTION_DEPTH: Final = 2
MAX_STRING_CHARS: Final = 100

MAX_NUMBER_BY_UNIT: Final = {
    "": 10_000.0,
    "%": 1_000.0,
    "px": 5_000.0,
    "pt": 4_000.0,
    "pc": 300.0,
    "in": 50.0,
    "cm": 100.0,
    "mm": 1_000.0,
    "em": 100.0,
    "rem": 100.0,
    "ex": 200.0,
    "ch": 200.0,
    "deg": 360.0,
}

_PROPERTIES: Final = """
    background background-color border border-bottom border-bottom-color border-bottom-left-radius
    border-bottom-right-radius border-bottom-style border-bottom-width border-collapse border-color border-left
    border-left-color border-left-style border-left-width border-radius border-right border-right-color
    border-right-style border-right-width border-spacing border-style border-top border-top-color
    border-top-left-radius border-top-right-radius border-top-style border-top-width border-width box-sizing
    caption-side clear color direction display empty-cells float font font-family font-size font-stretch font-style
    font-variant font-weight height hyphens letter-spacing line-height list-style list-style-position list-style-type
    margin margin-bottom margin-left margin-right margin-top max-height max-width min-height min-width object-fit
    opacity overflow overflow-wrap overflow-x overflow-y padding padding-bottom padding-left padding-right padding-top
    table-layout text-align text-decoration text-decoration-color text-decoration-line text-decoration-style
    text-indent text-transform vertical-align visibility white-space width word-break word-spacing word-wrap
"""
PROPERTIES: Final = frozenset(_PROPERTIES.split())
FUNCTIONS: Final = frozenset({"rgb", "rgba", "hsl", "hsla", "linear-gradient", "radial-gradient"})

_MAY_BE_NEGATIVE: Final = frozenset({"letter-spacing", "word-spacing", "text-indent", "vertical-align"})
_MAY_HAVE_STRINGS: Final = frozenset({"font", "font-family"})

_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_IMPORTANT: Final = re.compile(r"!\s*+important\s*+\Z", re.IGNORECASE)
_REMOTE: Final = re.compile(r"\(\s*+[\"']?\s*+(?:https?:)?//", re.IGNORECASE)
_URL: Final = re.compile(r"url\([^)]*+\)?", re.IGNORECASE)
_TOKEN: Final = re.compile(
    r"""
      (?P<space>  [ \t\n\f\r]++ )
    | (?P<string> "[^"'\\;<>{}&\x00-\x1f]*+" | '[^"'\\;<>{}&\x00-\x1f]*+' )
    | (?P<color>  \#[0-9a-fA-F]{3,8}+ (?![\w-]) )
    | (?P<number> [+-]? (?:[0-9]++ (?:\.[0-9]++)? | \.[0-9]++) ) (?P<unit> % | [a-zA-Z]*+ ) (?![\w-])
    | (?P<function> [a-zA-Z-]++ \( )
    | (?P<name>   -?[a-zA-Z\u00a1-\uffff][a-zA-Z0-9_\u00a1-\uffff-]*+ (?![\w(]) )
    | (?P<mark>   [,/] )
    | (?P<close>  \) )
    """,
    re.VERBOSE | re.ASCII,
)
_COLOR_LENGTHS: Final = frozenset({4, 5, 7, 9})  # with the "#"


@dataclass(frozen=True, kw_only=True)
class CleanStyle:
    """``text`` may be empty. ``blocked_images``: the number of declarations that named a remote image."""

    text: str
    blocked_images: int


def clean_style(style: str) -> CleanStyle:
    if len(style) > MAX_STYLE_CHARS:
        return CleanStyle(text="", blocked_images=0)
    kept: list[str] = []
    blocked_images = 0
    # A ";" inside of a string or an address also splits; both halves are then refused, which is safe.
    for declaration in _COMMENT.sub(" ", style).split(";", MAX_DECLARATIONS)[:MAX_DECLARATIONS]:
        name, _, value = declaration.partition(":")
        if _REMOTE.search(value):
            blocked_images += 1
        name = name.strip(" \t\n\f\r").lower()
        if name in PROPERTIES:
            value = _clean_value(name, _IMPORTANT.sub("", value))
            if value:
                kept.append(f"{name}:{value}")
    return CleanStyle(text=";".join(kept), blocked_images=blocked_images)


def _clean_value(name: str, value: str) -> str:
    """The value rewritten, or an empty string if any part of it is unknown."""
    if name == "background":
        value = _URL.sub(" ", value)  # the image is removed, its colour stays
    pieces: list[str] = []
    position = depth = 0
    while position < len(value):
        token = _TOKEN.match(value, position)
        if token is None:
            return ""
        depth += (token.lastgroup == "function") - (token.lastgroup == "close")
        piece = _clean_token(name, token)
        if piece is None or not 0 <= depth <= MAX_FUNCTION_DEPTH:
            return ""
        pieces.append(piece)
        position = token.end()
    return "" if depth else "".join(pieces).strip()


def _clean_token(name: str, token: re.Match[str]) -> str | None:
    """One token of the value of ``name``, in lower case where that means the same; ``None`` refuses the declaration."""
    text = token[0]
    if token["space"]:
        return " "
    if token["string"]:
        allowed = name in _MAY_HAVE_STRINGS and len(text) <= MAX_STRING_CHARS
        return f"'{text[1:-1]}'" if allowed else None
    if token["color"]:
        return text.lower() if len(text) in _COLOR_LENGTHS else None
    if token["number"]:
        return _clean_number(name, token["number"], token["unit"].lower())
    if token["function"]:
        return text.lower() if text[:-1].lower() in FUNCTIONS else None
    if token["name"]:
        return text if name in _MAY_HAVE_STRINGS else text.lower()
    return text


def _clean_number(name: str, number: str, unit: str) -> str | None:
    limit = MAX_NUMBER_BY_UNIT.get(unit)
    if limit is None or len(number) > MAX_STRING_CHARS:
        return None
    size = float(number)
    least = -limit if name in _MAY_BE_NEGATIVE else 0.0
    return number + unit if least <= size <= limit else None
