"""How tall will it be: a guess, made on the server because a frame without scripts cannot tell its own height.

Reads sanitized HTML only and relies on its form. It never has to be right: the frame has a handle and scrolls.
"""

from __future__ import annotations

import re
from typing import Final

LINE_HEIGHT_PX: Final = 20
CHARS_PER_LINE: Final = 80
BLOCK_GAP_PX: Final = 16
MIN_HEIGHT_PX: Final = 60
MAX_HEIGHT_PX: Final = 20_000
MAX_IMAGE_HEIGHT_PX: Final = 1_000

_TAG: Final = re.compile(r"<(/?)([a-z0-9]{1,20})([^<>]*+)>")
_HEIGHT: Final = re.compile(r'(?: height="|[";]height:)([0-9]{1,4})(?:"|px)')
_SPACING: Final = re.compile(r"(?:padding|margin):([0-9]{1,4})(?:px)?(?: [0-9a-z.%]+(?: ([0-9]{1,4}))?)?")
"""The first value of the shorthand is above, the third below; where that is missing, the first counts twice."""
_SIZED: Final = frozenset({"img", "div"})
_LINES: Final = """
    address article aside blockquote br center dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li
    main nav ol p pre section table tr ul
"""
_PARAGRAPHS: Final = "blockquote dl figure h1 h2 h3 h4 h5 h6 hr ol p pre ul"
_BREAKS: Final = frozenset(_LINES.split())
_SPACED: Final = frozenset(_PARAGRAPHS.split())


def estimate_height_px(html: str) -> int:
    """Lines of text at an ordinary width, plus what images and spacing ask for."""
    height = BLOCK_GAP_PX
    chars = 0
    position = 0
    for tag in _TAG.finditer(html):
        chars += _visible(html[position : tag.start()])
        position = tag.end()
        closing, name, attributes = tag.groups()
        if name in _SIZED and (found := _HEIGHT.search(attributes)):
            height += min(int(found[1]), MAX_IMAGE_HEIGHT_PX)
        if name in _BREAKS:
            height += _lines_px(chars, at_least=name == "br")
            chars = 0
        height += sum(int(above) + int(below or above) for above, below in _SPACING.findall(attributes))
        if closing and name in _SPACED:
            height += BLOCK_GAP_PX
    height += _lines_px(chars + _visible(html[position:]), at_least=False)
    return max(MIN_HEIGHT_PX, min(height, MAX_HEIGHT_PX))


def _visible(text: str) -> int:
    return len(text) if text and not text.isspace() else 0


def _lines_px(chars: int, *, at_least: bool) -> int:
    lines = -(-chars // CHARS_PER_LINE)
    return LINE_HEIGHT_PX * max(lines, int(at_least))
