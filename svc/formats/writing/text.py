"""The text alternative of outgoing HTML: its content, readable without any markup, as ``format=flowed``.

Reads only HTML that was rebuilt from the allow-list (``outgoing_html``), which is well-formed and holds only start
tags, end tags and escaped text. So one pass over its tags suffices, without a parser. On any other input it is as
quick, but the result is less good.

The form is RFC 3676: lines of at most 76 characters, with a blank at the end of lines that continue in the next one, so
that a narrow screen can break them at other places; quotations have a mark per level. A line that would look like a
mark or an mbox's ``From`` gets a blank in front.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

LINE_CHARS: Final = 76
MAX_QUOTE_DEPTH: Final = 8
MAX_INDENT_CHARS: Final = 24
MAX_EMPTY_LINES: Final = 2
"""Consecutive empty lines."""
RULE: Final = "-" * 20
SIGNATURE_MARK: Final = "--"
"""The line between a letter and its signature; RFC 3676 section 4.3 keeps its blank."""

_TAG: Final = re.compile(r"<(/?)([a-z][a-z0-9]*+)([^<>]*+)>")
_ATTRIBUTE: Final = re.compile(r' (href|alt|start|style)="([^"]*)"')
_WHITE: Final = re.compile(r"[ \t\r\n\f]+")
_HIDDEN: Final = re.compile(r"(?:^|;)display:none(?:;|$)")
_PREFORMATTED: Final = re.compile(r"(?:^|;)white-space:(?:pre|break-spaces)")
_STUFFED: Final = re.compile(r"[ >]|From ")
_SCHEME: Final = re.compile(r"^(?:mailto:|https?://)")

_APART: Final = "p h1 h2 h3 h4 h5 h6 blockquote pre table ul ol dl figure"
_PARAGRAPHS: Final = frozenset(_APART.split())
"""Separated by an empty line, except in a list."""
_ALONE: Final = """
    address article aside caption center dd div dt figcaption footer header hgroup li main nav section tbody tfoot
    thead tr
"""
_LINES: Final = frozenset(_ALONE.split())
_CELLS: Final = frozenset({"td", "th"})
_VOID: Final = frozenset({"br", "col", "hr", "img", "wbr"})


def text_alternative(html: str) -> str:
    """``html`` (rebuilt for sending) as flowed text; lines end in ``\\n``."""
    return "\n".join(piece for line in _Walker().lines(html) for piece in _flowed(line))


@dataclass(frozen=True)
class _Line:
    """A line before it is broken. ``fixed``: it must not be broken."""

    text: str
    depth: int
    fixed: bool = False


@dataclass
class _Open:
    """An open element, and what its end has to undo."""

    name: str
    hidden: bool = False
    preformatted: bool = False
    href: str = ""
    start: int = 0
    """For a link: where its text begins in the current line."""
    shown: bool = False
    """For a link: some of its text is in earlier lines."""
    number: int | None = None
    """For an ordered list: the number of its next item."""


@dataclass
class _Walker:
    """Walks the tags once and collects lines."""

    _lines: list[_Line] = field(default_factory=list)
    _open: list[_Open] = field(default_factory=list)
    _link: _Open | None = None
    _lists: list[_Open] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    _depth: int = 0
    _hidden: int = 0
    _preformatted: int = 0
    _pre: int = 0
    _item: str = ""
    """The mark of a list item, until its first line is written."""
    _gap: bool = False
    _cell_ended: bool = False

    def lines(self, html: str) -> list[_Line]:
        position = 0
        for tag in _TAG.finditer(html):
            self._text(html[position : tag.start()])
            position = tag.end()
            if tag[1]:
                self._end(tag[2])
            else:
                self._begin(tag[2], dict(_ATTRIBUTE.findall(tag[3])))
        self._text(html[position:])
        self._flush()
        while self._lines and not self._lines[-1].text:
            self._lines.pop()
        return self._lines

    def _text(self, escaped: str) -> None:
        if not escaped or self._hidden:
            return
        text = _unescaped(escaped)
        if self._preformatted:
            if self._open[-1].name == "pre" and not self._pieces:
                text = text.removeprefix("\n")  # a parser drops the first line feed
            text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
        else:
            text = _WHITE.sub(" ", text)
            if not self._pieces or self._pieces[-1].endswith((" ", "\n")):
                text = text.removeprefix(" ")
        self._add(text)

    def _add(self, text: str) -> None:
        if self._cell_ended and text.strip():
            self._cell_ended = False
            if self._pieces and not self._pieces[-1].endswith("\n"):
                self._pieces.append("| " if self._pieces[-1].endswith(" ") else " | ")
                text = text.lstrip(" ")
        if text:
            self._pieces.append(text)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if name in _VOID:
            self._void(name, attributes)
            return
        style = attributes.get("style", "")
        opened = _Open(
            name, hidden=bool(_HIDDEN.search(style)), preformatted=name == "pre" or bool(_PREFORMATTED.search(style))
        )
        if name in _PARAGRAPHS or name in _LINES:
            self._flush()
        self._gap |= name in _PARAGRAPHS and not self._lists
        if name == "a":
            if self._link is not None:
                self._link.href = ""  # HTML has no links within links
            opened.href, opened.start = _unescaped(attributes.get("href", "")), len(self._pieces)
            self._link = opened
        elif name == "blockquote":
            self._depth += 1
        elif name in ("ul", "ol"):
            opened.number = _number(attributes.get("start", "1")) if name == "ol" else None
            self._lists.append(opened)
        elif name == "li":
            self._item = self._item_mark()
        self._open.append(opened)
        self._hidden += opened.hidden
        self._preformatted += opened.preformatted
        self._pre += name == "pre"

    def _void(self, name: str, attributes: dict[str, str]) -> None:
        if self._hidden:
            return
        if name == "br":
            self._pieces.append("\n")
            self._cell_ended = False
        elif name == "hr":
            self._flush()
            self._gap = True
            self._emit(RULE, fixed=True)
            self._gap = True
        elif name == "img" and (alt := _WHITE.sub(" ", _unescaped(attributes.get("alt", ""))).strip()):
            self._add(f"[{alt}]")

    def _end(self, name: str) -> None:
        if not self._open or self._open[-1].name != name:
            return  # not rebuilt HTML
        opened = self._open.pop()
        if name in _PARAGRAPHS or name in _LINES:
            self._flush()
        if name == "a":
            self._end_link(opened)
        elif name == "blockquote":
            self._depth -= 1
        elif name in ("ul", "ol"):
            self._lists.pop()
        elif name == "li":
            self._item = ""
        self._cell_ended |= name in _CELLS
        self._gap |= name in _PARAGRAPHS and not self._lists
        self._hidden -= opened.hidden
        self._preformatted -= opened.preformatted
        self._pre -= name == "pre"

    def _end_link(self, link: _Open) -> None:
        """Write the link's target, unless its text already says it. The target of a link without text is dropped."""
        if link is self._link:
            self._link = None
        if self._hidden or not link.href:
            return
        label = "".join(self._pieces[link.start :]).strip()
        if not label and not link.shown:
            return
        if _bare(label) != _bare(link.href):
            address = f"({link.href.removeprefix('mailto:')})"
            blank = "" if not label or self._pieces[-1].endswith(" ") else " "
            self._pieces.append(f"{blank}{address}" if label else f"{address} ")

    def _item_mark(self) -> str:
        if not self._lists:
            return "- "
        innermost = self._lists[-1]
        indent = " " * min(2 * (len(self._lists) - 1), MAX_INDENT_CHARS)
        if innermost.number is None:
            return f"{indent}- "
        innermost.number += 1
        return f"{indent}{innermost.number - 1}. "

    def _flush(self) -> None:
        """The collected text becomes lines; a line end at its end is the block's own."""
        text = "".join(self._pieces)
        if self._link is not None:
            self._link.shown |= bool("".join(self._pieces[self._link.start :]).strip())
            self._link.start = 0
        self._pieces.clear()
        self._cell_ended = False
        if not text or (not self._preformatted and not text.strip(" \xa0")):
            return
        for line in text.removesuffix("\n").split("\n"):
            shown = line if self._preformatted else line.strip(" ")
            self._emit(shown.replace("\xa0", " "), fixed=self._pre > 0)  # only these indent; editors write them

    def _emit(self, text: str, *, fixed: bool) -> None:
        depth = min(self._depth, MAX_QUOTE_DEPTH)
        if self._gap and self._lines and self._lines[-1].text:
            self._lines.append(_Line("", min(depth, self._lines[-1].depth)))
            if not text.strip():
                return  # it has become part of the gap
        latest = self._lines[-MAX_EMPTY_LINES:]
        enough = len(latest) == MAX_EMPTY_LINES and not any(line.text for line in latest)
        if not text.strip() and (enough or not self._lines):
            return
        self._gap = False
        if self._item and text:
            text, self._item = self._item + text, ""
        elif self._lists and text and not fixed:
            text = " " * min(2 * len(self._lists), MAX_INDENT_CHARS) + text
        self._lines.append(_Line(text.rstrip(), depth, fixed))


def _flowed(line: _Line) -> list[str]:
    """RFC 3676 sections 4.2 to 4.5: one line, broken into as many as needed."""
    mark = ">" * line.depth + (" " if line.depth else "")
    if line.text == SIGNATURE_MARK:
        return [f"{mark}{SIGNATURE_MARK} "]
    if not line.text:
        return [mark.rstrip()]
    room = LINE_CHARS - len(mark) - 1
    pieces: list[str] = []
    start = 0
    while start < len(line.text):
        end = len(line.text) if line.fixed else _end_of_piece(line.text, start, room)
        piece = line.text[start:end]
        stuffing = " " if not mark and _STUFFED.match(piece) else ""
        pieces.append(f"{mark}{stuffing}{piece}")
        start = end
    return pieces


def _end_of_piece(text: str, start: int, room: int) -> int:
    """The position after a blank, so that no piece is longer than ``room``, unless there is no earlier blank."""
    if len(text) - start <= room:
        return len(text)
    blank = text.rfind(" ", start + 1, start + room)
    if blank < 0 or not text[start:blank].strip():
        blank = text.find(" ", start + room)
    return len(text) if blank < 0 else blank + 1


def _bare(address: str) -> str:
    return _SCHEME.sub("", address.strip().lower()).rstrip("/")


def _unescaped(text: str) -> str:
    """Reverses ``escape_text`` and ``escape_attribute``."""
    if "&" not in text:
        return text
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")


def _number(digits: str) -> int:
    return int(digits) if re.fullmatch(r"-?[0-9]{1,7}", digits, re.ASCII) else 1
