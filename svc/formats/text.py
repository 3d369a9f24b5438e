"""Makes strangers' text fit to keep and to show: valid Unicode, no control characters, HTML reduced to its text.

Owns the three cleanings (a body, a single line, an identifier) and the reduction of HTML to text. Each takes time
linear in any input. It never sanitizes HTML for a browser: the output is text.
"""

from __future__ import annotations

import html as _html
import re
from typing import Final

MAX_ENTITY_DIGITS: Final = 7
"""A longer numeric character reference names no character; ``int`` would refuse it anyway."""

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_ASCII_CONTROLS: Final = bytes(code for code in range(128) if _CONTROLS.match(chr(code)))
_SURROGATES: Final = re.compile(r"[\ud800-\udfff]")
_INVISIBLE: Final = re.compile(
    # Bidirectional controls, zero-width and other format characters that can make one name look like another.
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e"
    "\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
_STRAY_JOINERS: Final = re.compile(
    # Persian, Indic scripts and emoji need the (non-)joiner between two characters; in other places it only hides.
    r"(?<![^\x00-\x7f\u200c\u200d])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f\u200c\u200d])"
)
_TOO_LONG_REFERENCE: Final = re.compile(
    rf"&#(?:[0-9]{{{MAX_ENTITY_DIGITS + 1},}}|[xX][0-9a-fA-F]{{{MAX_ENTITY_DIGITS + 1},}});?"
)
_MARKUP: Final = re.compile(
    # A tag with its name, the beginning of a comment, or a declaration. One without an end swallows the rest, as in a
    # browser.
    r"<(?:(/?)([a-zA-Z][a-zA-Z0-9]{0,15}+)[^>]*+>?|(!--)|[!?][^>]*+>?)"
)
_SKIPPED: Final = {
    name: re.compile(rf"</{name}", re.IGNORECASE)
    for name in ("script", "style", "title", "template", "noscript", "textarea", "select", "object", "svg")
}
_BREAKS: Final = {
    "p": "\n\n",
    **dict.fromkeys(
        (
            *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "dir", "div", "dl", "dt"),
            *("fieldset", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "header", "html", "li"),
            *("main", "menu", "nav", "ol", "option", "pre", "section", "table", "tr", "ul"),
        ),
        "\n",
    ),
}
"""By the name of a block's tag, opening or closing: the break between it and its neighbour, which is written once."""
_CELLS: Final = frozenset({"td", "th"})
BLOCKS: Final = frozenset(_BREAKS) | _CELLS
"""Elements that begin and end a line."""


def clean_text(text: str) -> str:
    """Clean a body: line ends become ``\\n``; no other control character except the tab stays, and no lone
    surrogate."""
    if "\r" in text:
        text = text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\f", "\n").replace("\v", "\n")
    return _without_controls(text)


def clean_line(text: str) -> str:
    """One visible line: white space of every kind becomes single blanks, and characters that hide or reorder text are
    removed."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    text = " ".join(text.split())  # this also removes CR, LF, U+0085, U+2028 and U+2029
    text = _without_controls(text)
    return " ".join(_STRAY_JOINERS.sub("", _INVISIBLE.sub("", text)).split())


def clean_token(text: str) -> str:
    """An identifier: as :func:`clean_line`, but without any white space."""
    return clean_line(text).replace(" ", "")


def cut(text: str, *, limit: int) -> str:
    """At most ``limit`` characters; the last one is an ellipsis if something was cut."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def text_from_html(html: str) -> str:
    """The text that a person would read: blocks on their own lines, at most one empty line between, entities
    resolved."""
    for white in "\n\r\t\f":  # one pattern for all of them takes thirty times as long
        html = html.replace(white, " ")
    pieces: list[str] = []
    position = 0
    while match := _MARKUP.search(html, position):  # any other "<" is text, as in "a < b"
        _add_words(pieces, html[position : match.start()])
        closing, name, comment = match.groups()
        position = match.end()
        if name is not None:
            name = name.lower()
            if name in _BREAKS:
                _add_break(pieces, _BREAKS[name])
            elif name == "br":
                pieces.append("\n")
            elif closing:
                if name in _CELLS:
                    pieces.append("\t")
            elif name in _SKIPPED:
                found = _SKIPPED[name].search(html, position)
                position = len(html) if found is None else _past(html, ">", found.end())
        elif comment:
            position = _past(html, "-->", match.start() + 2)
    _add_words(pieces, html[position:])
    # Only text outside of markup is resolved, so that &lt;b&gt; stays readable text.
    text = clean_text(_html.unescape(_TOO_LONG_REFERENCE.sub("\ufffd", "".join(pieces))))
    return _without_empty_lines(text)


def _without_controls(text: str) -> str:
    if text.isascii():  # most are, and this takes half the time
        return text.encode("ascii").translate(None, _ASCII_CONTROLS).decode("ascii")
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", text))


def _add_words(pieces: list[str], words: str) -> None:
    """Blanks alone after a line break are dropped."""
    if words.strip(" ") or (words and not (pieces and pieces[-1].endswith("\n"))):
        pieces.append(words)


def _add_break(pieces: list[str], lines: str) -> None:
    """Two adjacent blocks make one break."""
    if pieces and not pieces[-1].endswith(lines):
        pieces.append("\n" if pieces[-1] == "\n" else lines)


def _past(html: str, mark: str, start: int) -> int:
    """The position after ``mark``. A construct without an end swallows the rest, as in a browser; this keeps the search
    linear."""
    found = html.find(mark, start)
    return len(html) if found < 0 else found + len(mark)


def _without_empty_lines(text: str) -> str:
    lines: list[str] = []
    for line in (" ".join(line.split()) for line in text.split("\n")):
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).strip("\n")
