"""A message's own words, in one line: for the row of its thread, and for the passage that a search shows.

Own words are the new ones: no markup, no quotation or line that announces one, no header of a forwarded mail, no ruler,
no signature, and not the subject or the sender's name again. For a message without own words, the quoted or forwarded
text is shown. Bounded: at most the first :data:`SOURCE_CHARS` are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from svc.formats.quoted import announced, folds_from, is_forward, is_header, is_ordinary, is_original, is_ruler
from svc.formats.text import clean_line, cut, text_from_html

MAX_SNIPPET_CHARS: Final = 200
SOURCE_CHARS: Final = (4 * 1024, 256 * 1024)
"""How much of a body is looked at: the larger number only if the beginning has too little text, as after long style
sheets."""
MAX_LINE_CHARS: Final = 2_000

_IS_HTML: Final = re.compile(
    r"\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html|head|body|table|div|p)\b", re.I | re.S
)
_QUOTATION: Final = re.compile(r"<(/?)blockquote\b", re.IGNORECASE)
_QUOTED: Final = re.compile(r"\s{0,8}[>|]")
_RUN: Final = re.compile(r"[-=_*~#+.·—–─━═]{4,}|(?:[-=_*~#] ){3,}")
_SIGNATURE: Final = re.compile(r"-- ?")
_PREFIXES: Final = re.compile(r"(?:(?:re|fwd?|aw|wg|sv|tr|rv) ?: ?)+", re.IGNORECASE)


def snippet(text: str, html: str | None, *, subject: str = "", sender: str = "") -> str:
    """One line of at most :data:`MAX_SNIPPET_CHARS`; empty if there is nothing to read."""
    line = ""
    html, known = html or "", _known(subject, sender)
    for limit in SOURCE_CHARS:
        line = _line(text[:limit], html[:limit], known=known)
        if len(line) > MAX_SNIPPET_CHARS or max(len(text), len(html)) <= limit:
            break
    return cut(line, limit=MAX_SNIPPET_CHARS)


def own_words(text: str) -> str:
    """The lines of a plain text that are the writer's own and new; empty if there are none."""
    return "\n".join(_own(text))


def carried_words(text: str) -> str:
    """The whole of a plain text, without the marks of quotations, rulers, and headers of forwarded mails."""
    return "\n".join(_carried(text))


def text_with_quotations(html: str) -> str:
    """The text of the HTML, with the lines of block quotations marked as in a plain text."""
    parts = ((is_quoted, text_from_html(part)) for is_quoted, part in _parts(html))
    return "\n".join(_marked(text) if is_quoted else text for is_quoted, text in parts if text)


def _marked(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


def plain(text: str) -> str:
    """A plain text as text: some programs send the source of HTML as plain text."""
    return text_from_html(text) if _IS_HTML.match(text) else text


def _line(text: str, html: str, *, known: frozenset[str]) -> str:
    text = plain(text)
    return (
        _joined(_own(text), known=known)
        or (_joined(_own(text_from_html(_without_quotations(html))), known=known) if html else "")
        or _joined(_carried(text), known=known)
        or (_joined(_carried(text_from_html(html)), known=known) if html else "")
    )


def _joined(lines: Iterator[str], *, known: frozenset[str]) -> str:
    """One line; words that the row shows already are removed from its beginning."""
    found: list[str] = []
    chars = 0
    for line in lines:
        if chars > MAX_SNIPPET_CHARS:
            break
        cleaned = clean_line(_RUN.sub(" ", line))
        if cleaned and (found or _compared(cleaned) not in known):
            found.append(cleaned)
            chars += len(cleaned) + 1
    return " ".join(found)


def _own(text: str) -> Iterator[str]:
    lines = [line[:MAX_LINE_CHARS] for line in text.split("\n")][: folds_from(text)]
    at = 0
    said = False
    while at < len(lines):
        line = lines[at].strip()
        if is_ordinary(line):
            said = True
            yield line
            at += 1
            continue
        if _rest_is_old(line) or (is_header(line) and _begins_headers(lines, at)):
            return
        if _SIGNATURE.fullmatch(lines[at].rstrip("\r")) and said:
            return
        count = announced(lines, at)
        if count and _quotes_next(lines, at + count):
            at += count
            continue
        if not _QUOTED.match(line) and not is_ruler(line):
            said = True
            yield line
        at += 1


def _rest_is_old(line: str) -> bool:
    return is_original(line) or is_forward(line)


def _quotes_next(lines: list[str], at: int) -> bool:
    """Whether quoted text or nothing follows. Otherwise "he wrote:" may be a person's own words."""
    following = next((line for line in lines[at : at + 4] if line.strip()), None)
    return following is None or bool(_QUOTED.match(following))


def _begins_headers(lines: list[str], at: int) -> bool:
    """Three header lines in a row are the header of another message."""
    following = [line.strip() for line in lines[at + 1 : at + 8] if line.strip()][:2]
    return len(following) == 2 and all(map(is_header, following))


def _carried(text: str) -> Iterator[str]:
    """The quoted or forwarded lines, without their marks."""
    for line in text.split("\n"):
        shown = line[:MAX_LINE_CHARS].strip().lstrip(">| ")
        if not (is_ruler(shown) or _rest_is_old(shown) or is_header(shown)):
            yield shown


def _without_quotations(html: str) -> str:
    """Replaces each block quotation, however nested, by a line with its mark ``>``."""
    return "".join("<p>&gt;</p>" if is_quoted else part for is_quoted, part in _parts(html))


def _parts(html: str) -> Iterator[tuple[bool, str]]:
    """The HTML cut at its outermost block quotations, each part with whether it is one. A quotation without an end
    reaches to the end."""
    depth = start = 0
    for tag in _QUOTATION.finditer(html):
        if not tag[1]:
            if depth == 0:
                yield False, html[start : tag.start()]
                start = tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield True, html[start : tag.start()]
                start = tag.start()
    yield depth > 0, html[start:]


def _known(subject: str, sender: str) -> frozenset[str]:
    return frozenset(filter(None, (_compared(subject), _compared(_PREFIXES.sub("", subject)), _compared(sender))))


def _compared(line: str) -> str:
    return clean_line(line).casefold().strip(" .:!-–—*")
