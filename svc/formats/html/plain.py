"""Turns plain text into HTML for the same frame: for a mail without HTML, or with HTML that is too large to parse.

The result holds only what the sanitizer may write. Links are found in linear time; quoted lines become nested
quotations; white space stays as typed; text for a fixed-width font gets one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from svc.formats.fixed import fixed_lines
from svc.formats.html.address import link_address
from svc.formats.html.escaping import LINK_ATTRIBUTES, escape_attribute, escape_text, printable
from svc.formats.html.model import FOLD, CleanHtml
from svc.formats.quoted import folds_from
from svc.formats.text import text_from_html

MAX_TEXT_CHARS: Final = 1024 * 1024
MAX_FALLBACK_CHARS: Final = 4 * 1024 * 1024
MAX_FALLBACK_TAGS: Final = 100_000
"""The fallback runs where it cannot be killed: with these two limits it ends within a second on any input."""
MAX_QUOTE_DEPTH: Final = 8

_START: Final = '<div style="white-space:pre-wrap;overflow-wrap:break-word">'

_FIXED: Final = (
    '<pre style="margin:0;overflow-x:auto;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px;'
    'line-height:1.4;white-space:pre">'
)
_QUOTE_STYLE: Final = "margin:0 0 0 4px;padding:0 0 0 12px;border-left:2px solid #8a8f98"
_QUOTE_MARKS: Final = re.compile(r"(?:>[ ]?)+")
_LINK: Final = re.compile(
    # All quantifiers are bounded, so that no text makes the search slow.
    r"(?<![\w/@.])(?:(?:https?://|mailto:)[^\s<>\"'`\x00-\x1f]{1,2000}|www\.[\w-]{1,63}\.[^\s<>\"'`\x00-\x1f]{1,2000}"
    r"|[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w@-]))",
    re.IGNORECASE,
)
_TRAILING: Final = ".,;:!?*_~"
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}


def text_to_html(text: str, *, folds: bool = False) -> str:
    """HTML for the frame: escaped, with links, quotations and line breaks. ``folds``: mark the part that folds."""
    text = printable(text[:MAX_TEXT_CHARS].replace("\r\n", "\n"))
    lines = text.split("\n")
    at = folds_from(text) if folds else None
    if at is None:
        return f"{_START}{''.join(_lines(lines))}</div>"
    while not lines[at - 1].strip():
        at -= 1
    return f"{_START}{''.join(_lines(lines[:at]))}<div{FOLD}>{''.join(_lines(lines[at:]))}</div></div>"


def _lines(lines: Sequence[str]) -> list[str]:
    pieces: list[str] = []
    depth = 0
    for level, same in groupby(map(_split_quote, lines), key=lambda line: line[0]):
        pieces.append("</blockquote>" * (depth - level))
        pieces.append(f'<blockquote style="{_QUOTE_STYLE}">' * (level - depth))
        runs = list(_runs([line for _, line in same]))
        for at, (is_fixed, shown) in enumerate(runs):
            if is_fixed:
                pieces.append("".join((_FIXED, "\n".join(shown), "</pre>")))
            else:
                pieces.append("<br>".join(shown))
                if level == 0 or at + 1 < len(runs):
                    pieces.append("<br>")
        depth = level
    if depth == 0 and pieces[-1] == "<br>":
        pieces.pop()
    pieces.append("</blockquote>" * depth)
    return pieces


def _runs(lines: Sequence[str]) -> Iterator[tuple[bool, list[str]]]:
    """Groups of adjacent lines with the same font, as HTML."""
    for is_fixed, run in groupby(zip(fixed_lines(lines), lines, strict=True), key=lambda one: one[0]):
        yield is_fixed, ["".join(_with_links(line)) for _, line in run]


def text_fallback(html: str) -> CleanHtml:
    """The text of HTML, for input that is too large or too slow to parse."""
    source = _without_endless_tags(html[:MAX_FALLBACK_CHARS])
    text = text_from_html(source)
    truncated = len(source) < len(html) or len(text) > MAX_TEXT_CHARS
    return CleanHtml(html=text_to_html(text, folds=True), truncated=truncated)


def _without_endless_tags(html: str) -> str:
    if html.count("<") <= MAX_FALLBACK_TAGS:
        return html
    return "<".join(html.split("<", MAX_FALLBACK_TAGS + 1)[:-1])


def _split_quote(line: str) -> tuple[int, str]:
    """The depth of a line's quotation, and the line without its marks."""
    marks = _QUOTE_MARKS.match(line)
    if marks is None:
        return 0, line
    return min(marks[0].count(">"), MAX_QUOTE_DEPTH), line[marks.end() :]


def _with_links(line: str) -> Iterator[str]:
    position = 0
    for found in _LINK.finditer(line):
        shown = _without_trailing(found[0])
        address = link_address(_address(shown))
        if address is None:
            continue
        yield escape_text(line[position : found.start()])
        yield f'<a href="{escape_attribute(address)}"{LINK_ATTRIBUTES}>{escape_text(shown)}</a>'
        position = found.start() + len(shown)
    yield escape_text(line[position:])


def _address(shown: str) -> str:
    lower = shown[:8].lower()
    if lower.startswith(("http://", "https://", "mailto:")):
        return shown
    return f"https://{shown}" if lower.startswith("www.") else f"mailto:{shown}"


def _without_trailing(link: str) -> str:
    """A link without the punctuation of the sentence around it. A closing bracket stays if it was opened in the
    link."""
    end = len(link)
    surplus = {closing: link.count(closing) - link.count(opening) for closing, opening in _PAIRS.items()}
    while end > 0:
        last = link[end - 1]
        if surplus.get(last, 0) > 0:
            surplus[last] -= 1
        elif last not in _TRAILING:
            break
        end -= 1
    return link[:end]
