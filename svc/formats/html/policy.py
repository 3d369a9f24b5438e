"""The allow-list: which elements stay, what happens to the others, and which attributes each may keep, in which form.

Tables and pure checks only. Ids, names and classes are in no table: they could conflict with names that the surrounding
page relies on. The output is cached: whoever changes these tables so that the same input gives another output
increases ``POLICY_VERSION`` (``model.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

MAX_TEXT_ATTRIBUTE_CHARS: Final = 1_000
MAX_FONT_CHARS: Final = 200
MAX_PIXELS: Final = 5_000
MAX_PERCENT: Final = 1_000
MAX_COLUMN_SPAN: Final = 100
MAX_ROW_SPAN: Final = 500
MAX_LIST_NUMBER: Final = 1_000_000

_DROPPED: Final = """
    applet area audio base basefont bgsound button canvas command datalist embed frame frameset head iframe input
    isindex keygen link math meta meter noembed noframes noscript object optgroup option output param portal
    progress script select source style svg template textarea title track video
"""
DROPPED: Final = frozenset(_DROPPED.split())
"""Removed with all their content. Any other element that is not allowed is unwrapped: its content stays."""

RENAMED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "body": "div",
        "details": "div",
        "dialog": "div",
        "dir": "ul",
        "fieldset": "div",
        "form": "div",  # whole newsletters are inside a form: its controls are removed, its text stays
        "legend": "div",
        "listing": "pre",
        "marquee": "div",
        "menu": "ul",
        "plaintext": "pre",
        "search": "div",
        "summary": "div",
        "xmp": "pre",
    }
)
"""Elements that are not allowed, but shape their content like an allowed one, which replaces them."""

VOID: Final = frozenset({"br", "col", "hr", "img", "wbr"})

Check = Callable[[str], str | None]
"""Returns the value rewritten, or ``None`` to leave the attribute out."""


def _among(*values: str) -> Check:
    known = frozenset(values)

    def check(value: str) -> str | None:
        value = value.strip().lower()
        return value if value in known else None

    return check


def _number(*, most: int, least: int = 0) -> Check:
    def check(value: str) -> str | None:
        match = _LEADING_NUMBER.match(value)
        return None if match is None else str(max(least, min(int(match[1]), most)))

    return check


def _matching(pattern: str) -> Check:
    form = re.compile(pattern, re.ASCII)

    def check(value: str) -> str | None:
        value = value.strip()
        return value if form.fullmatch(value) else None

    return check


def _length(value: str) -> str | None:
    """``600``, ``100%``; anything after the number (``px``) is dropped, as a browser does."""
    match = _LEADING_NUMBER.match(value)
    if match is None or match[1].startswith("-"):
        return None
    if match[2]:
        return f"{min(int(match[1]), MAX_PERCENT)}%"
    return str(min(int(match[1]), MAX_PIXELS))


def _color(value: str) -> str | None:
    """A colour in HTML's form, rewritten so that CSS accepts it too: old mail omits the ``#``."""
    value = value.strip().lower()
    if _BARE_HEX.fullmatch(value):
        return f"#{value}"
    return value if _COLOR_FORM.fullmatch(value) else None


def _fonts(value: str) -> str | None:
    """Names of fonts, in any script, however the line was broken."""
    value = " ".join(value.split())
    return value if _FONT_NAMES.fullmatch(value) else None


def _border(value: str) -> str | None:
    """A table that only says that it has a border gets one of a pixel."""
    return _PIXELS(value) or "1"


def _text(value: str) -> str | None:
    return " ".join(value[:MAX_TEXT_ATTRIBUTE_CHARS].split())


_LEADING_NUMBER: Final = re.compile(r"[ \t\n\f\r]*+\+?(-?[0-9]{1,7}+)(?:\.[0-9]++)?(%)?", re.ASCII)

_BARE_HEX: Final = re.compile("(?:[0-9a-f]{3}){1,2}")
_COLOR_FORM: Final = re.compile("#?[0-9a-z]{3,24}")
_FONT_NAMES: Final = re.compile(rf"[\w ,.'\"-]{{1,{MAX_FONT_CHARS}}}")
_ALIGN: Final = _among("left", "right", "center", "justify", "middle", "absmiddle", "top", "bottom", "baseline")
_VALIGN: Final = _among("top", "middle", "bottom", "baseline")
_PRESENT: Final[Check] = lambda _: ""  # noqa: E731
_PIXELS: Final = _number(most=MAX_PIXELS)

_EVERYWHERE: Final[Mapping[str, Check]] = {
    "dir": _among("ltr", "rtl", "auto"),
    "lang": _matching(r"[A-Za-z0-9-]{1,35}"),
    "title": _text,
}
_ALIGNED: Final[Mapping[str, Check]] = {"align": _ALIGN}
_ROW: Final[Mapping[str, Check]] = {"align": _ALIGN, "valign": _VALIGN, "bgcolor": _color, "height": _length}
_CELL: Final[Mapping[str, Check]] = {
    **_ROW,
    "width": _length,
    "colspan": _number(most=MAX_COLUMN_SPAN, least=1),
    "rowspan": _number(most=MAX_ROW_SPAN, least=1),
    "nowrap": _PRESENT,
}
_COLUMN: Final[Mapping[str, Check]] = {
    "align": _ALIGN,
    "valign": _VALIGN,
    "width": _length,
    "span": _number(most=MAX_COLUMN_SPAN, least=1),
}
_LIST_TYPE: Final = _matching("[1aAiI]|(?i:disc|circle|square)")
_LIST_NUMBER: Final = _number(most=MAX_LIST_NUMBER, least=-MAX_LIST_NUMBER)

_OWN: Final[Mapping[str, Mapping[str, Check]]] = {
    "br": {"clear": _among("left", "right", "all", "none")},
    "caption": _ALIGNED,
    "col": _COLUMN,
    "colgroup": _COLUMN,
    "div": _ALIGNED,
    "font": {"color": _color, "face": _fonts, "size": _matching(r"[+-]?[0-9]")},
    "h1": _ALIGNED,
    "h2": _ALIGNED,
    "h3": _ALIGNED,
    "h4": _ALIGNED,
    "h5": _ALIGNED,
    "h6": _ALIGNED,
    "hr": {"align": _ALIGN, "color": _color, "noshade": _PRESENT, "size": _PIXELS, "width": _length},
    "img": {
        "align": _ALIGN,
        "alt": _text,
        "border": _PIXELS,
        "height": _length,
        "hspace": _PIXELS,
        "vspace": _PIXELS,
        "width": _length,
    },
    "li": {"type": _LIST_TYPE, "value": _LIST_NUMBER},
    "ol": {"start": _LIST_NUMBER, "type": _LIST_TYPE, "reversed": _PRESENT},
    "p": _ALIGNED,
    "table": {
        "align": _ALIGN,
        "bgcolor": _color,
        "border": _border,
        "bordercolor": _color,
        "cellpadding": _PIXELS,
        "cellspacing": _PIXELS,
        "height": _length,
        "role": _among("presentation", "none"),
        "width": _length,
    },
    "tbody": _ROW,
    "td": _CELL,
    "tfoot": _ROW,
    "th": _CELL,
    "thead": _ROW,
    "tr": _ROW,
    "ul": {"type": _LIST_TYPE},
}

_ALLOWED: Final = """
    a abbr acronym address article aside b bdi big blockquote br caption center cite code col colgroup dd del dfn div
    dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main mark nav nobr ol p
    pre q rp rt ruby s samp section small span strike strong sub sup table tbody td tfoot th thead time tr tt u ul var
    wbr
"""

ATTRIBUTES: Final[Mapping[str, Mapping[str, Check]]] = MappingProxyType(
    {name: {**_EVERYWHERE, **_OWN.get(name, {})} for name in _ALLOWED.split()}
)
"""The allowed elements, each with its attributes. The rebuild itself handles ``style``, ``href`` and an image's
address."""

BODY_COLORS: Final[Mapping[str, str]] = MappingProxyType({"bgcolor": "background-color", "text": "color"})
"""Attributes of ``body`` that its ``div`` can only have as style."""
body_color: Final = _color
