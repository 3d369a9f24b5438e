"""Decides where HTML may be parsed, from its size and a few counts, before anything is parsed.

No parser is quick on every shape. Some shapes cost quadratic time: many tags search all open elements, a formatting end
tag (``</b>``) may move them, and every ``<template>`` starts a context of its own. The counts below are upper bounds of
what any parser can find, so no input can look cheaper than it is. Measured with the limits below, the worst of some
4,800 hostile shapes takes 0.2 s of processor time; with 64 KiB and no counts, one took 23 s. Of 1,210 real bodies all
but a handful are inline.
"""

from __future__ import annotations

import re
from typing import Final, Literal

Plan = Literal["inline", "process", "text"]
"""``inline``: in a thread. ``process``: in a worker that is killed at its deadline. ``text``: not parsed, only its text
is read."""

MAX_INLINE_CHARS: Final = 64 * 1024
MAX_INLINE_TAGS: Final = 3_000
MAX_INLINE_START_TAGS: Final = 1_200
MAX_INLINE_TEMPLATES: Final = 16
MAX_INLINE_MOVES: Final = 300_000
"""The number of start tags multiplied by the number of formatting end tags."""

MAX_PROCESS_CHARS: Final = 10 * 1024 * 1024
MAX_PROCESS_TAGS: Final = 400_000

_FORMATTING_END: Final = re.compile(
    r"</(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?![a-z0-9])", re.IGNORECASE
)
_TEMPLATE: Final = re.compile("<template", re.IGNORECASE)


def plan(html: str) -> Plan:
    """Takes microseconds for a small input and a few milliseconds for the largest."""
    if len(html) > MAX_PROCESS_CHARS:
        return "text"
    tags = html.count("<")
    if tags > MAX_PROCESS_TAGS:
        return "text"
    if len(html) > MAX_INLINE_CHARS or tags > MAX_INLINE_TAGS:
        return "process"
    start_tags = tags - html.count("</")
    formatting_ends = sum(1 for _ in _FORMATTING_END.finditer(html))
    templates = sum(1 for _ in _TEMPLATE.finditer(html))
    quick = (
        start_tags <= MAX_INLINE_START_TAGS
        and start_tags * formatting_ends <= MAX_INLINE_MOVES
        and templates <= MAX_INLINE_TEMPLATES
    )
    return "inline" if quick else "process"
