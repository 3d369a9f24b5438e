"""The passage of a message that a search result shows: plain text in pieces, with the searched words marked.

The text is the indexed text, so that nothing else is shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from svc.formats.snippet import carried_words, own_words
from svc.formats.words.text import folded, places, restored
from svc.mail.search.matching import Mark
from svc.mail.search.model import Column

SHOWN_CHARS: Final = 180
BEFORE_CHARS: Final = 50
"""How much is shown before the first hit."""

MAX_HITS: Final = 50
"""The hits of one mark in one text among which the best passage is chosen."""

MAX_STARTS: Final = 100
MAX_MARKS: Final = 12
"""The number of different words that are marked, because each is searched in the whole text, which may be long."""

_OTHERS: Final[tuple[Column, ...]] = ("recipient", "cc", "bcc", "files")


@dataclass(frozen=True)
class Piece:
    text: str
    hit: bool


@dataclass(frozen=True, order=True)
class _Span:
    start: int
    end: int
    mark: int


def snippet(columns: Mapping[Column, str], marks: Sequence[Mark]) -> tuple[Piece, ...]:
    """The passage with the most searched words; the beginning of the body if there are none.

    The sender's own new text is tried first, then quoted text. Subject and sender are already shown in the row.
    """
    body = restored(columns["body"])
    versions = (own_words(body), carried_words(body), body)
    for column, text in (*(("body", text) for text in versions), *((one, restored(columns[one])) for one in _OTHERS)):
        spans = sorted(_spans(column, text, marks))
        if spans:
            return tuple(_cut(text, spans))
    return tuple(_cut(next((text for text in versions if text.strip()), ""), []))


def _spans(column: Column, text: str, marks: Sequence[Mark]) -> Iterator[_Span]:
    compared = folded(text)
    at = places(text)
    for number, mark in enumerate(marks[:MAX_MARKS]):
        if column in mark.columns:
            for found in islice(mark.pattern.finditer(compared), MAX_HITS):
                yield _Span(at[found.start()], _after_marks(text, at[found.end() - 1] + 1), number)


def _after_marks(text: str, end: int) -> int:
    """The end moved behind vowel signs and accents, which belong to the letter before them."""
    while end < len(text) and unicodedata.category(text[end])[0] == "M":
        end += 1
    return end


def _cut(text: str, spans: list[_Span]) -> Iterable[Piece]:
    start = _best_start(spans)
    if start > 0:
        blank = text.find(" ", start, start + BEFORE_CHARS // 2)
        start = start if blank < 0 else blank + 1
    end = min(len(text), start + SHOWN_CHARS)
    if end < len(text):
        blank = text.rfind(" ", end - BEFORE_CHARS // 2, end)
        end = end if blank < 0 else blank
    yield from _pieces(text, spans, start=start, end=end)


def _best_start(spans: list[_Span]) -> int:
    """The start of the passage: a little before the hit that is followed by the most different marks."""
    best = -1
    start = 0
    for at, span in enumerate(spans[:MAX_STARTS]):
        near = {one.mark for one in spans[at : at + MAX_HITS] if one.end <= span.start + SHOWN_CHARS - BEFORE_CHARS}
        if len(near) > best:
            best, start = len(near), max(0, span.start - BEFORE_CHARS)
    return start


def _pieces(text: str, spans: list[_Span], *, start: int, end: int) -> Iterator[Piece]:
    at = start
    lead = "…" if start > 0 else ""
    for span in spans:
        if span.start < at or span.start >= end:
            continue
        plain = _flat(text[at : span.start])
        if lead or plain:
            yield Piece(lead + plain, False)
        lead = ""
        yield Piece(_flat(text[span.start : span.end]), True)
        at = span.end
    rest = lead + _flat(text[at : max(at, end)]) + ("…" if max(at, end) < len(text) else "")
    if rest:
        yield Piece(rest, False)


def _flat(text: str) -> str:
    """The text as one line: each run of white space becomes one space."""
    return re.sub(r"\s+", " ", text)
