"""The passage of a message that a search is shown with: plain text in pieces, those marked that were searched for.

The text is the one that was indexed, so that nothing is shown from elsewhere. Marking is a courtesy: where it sees a
word otherwise than the index does, the passage is shown without.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from svc.mail.search.model import Column, Query, Text
from svc.mail.search.text import DENSE, EMOJI, folded, phrase, restored, spellings, typed

SHOWN_CHARS: Final = 180
BEFORE_CHARS: Final = 50
"""How much is shown before the first hit."""

MAX_HITS: Final = 50
"""Of one mark in one text: the best passage is looked for among them."""

MAX_STARTS: Final = 100

_ORDER: Final[tuple[Column, ...]] = ("body", "subject", "sender", "recipient", "cc", "bcc", "files")
_SEGMENT: Final = re.compile(rf"({DENSE.pattern}|{EMOJI.pattern})|([^\W_]+)")
_GAP: Final = r"[\W_]{1,40}"
_MAYBE_GAP: Final = r"[\W_]{0,40}"


@dataclass(frozen=True)
class Piece:
    text: str
    hit: bool


@dataclass(frozen=True)
class Mark:
    pattern: re.Pattern[str]
    columns: tuple[Column, ...]


@dataclass(frozen=True, order=True)
class _Span:
    start: int
    end: int
    mark: int


def marks_of(query: Query) -> tuple[Mark, ...]:
    """What to mark: the words that are wanted."""
    wanted = [term.what for group in query.groups for term in group if not term.negated]
    return tuple(Mark(_pattern(text), text.columns) for text in wanted if isinstance(text, Text))


def snippet(columns: Mapping[Column, str], marks: Sequence[Mark]) -> tuple[Piece, ...]:
    """The passage with most of what was searched for; the beginning of the body where nothing is marked."""
    for column in _ORDER:
        text = restored(columns[column])
        spans = sorted(_spans(column, text, marks))
        if spans:
            return tuple(_cut(text, spans))
    return tuple(_cut(restored(columns["body"]) or restored(columns["subject"]), []))


def _spans(column: Column, text: str, marks: Sequence[Mark]) -> Iterator[_Span]:
    compared = folded(text)
    for number, mark in enumerate(marks):
        if column in mark.columns:
            for found in islice(mark.pattern.finditer(compared), MAX_HITS):
                yield _Span(found.start(), _after_marks(text, found.end()), number)


def _pattern(text: Text) -> re.Pattern[str]:
    alternatives = []
    for words in spellings(text.words):
        found = phrase(words, unfinished=text.unfinished)
        if found is not None:
            alternatives.append(_pattern_of(folded(typed(words)), unfinished=found[1]))
    return re.compile("|".join(alternatives))


def _pattern_of(words: str, *, unfinished: bool) -> str:
    pattern = ""
    was_dense = True
    segments = list(_SEGMENT.finditer(words))
    for segment in segments:
        dense = segment[1] is not None
        if segment is not segments[0]:
            pattern += _MAYBE_GAP if dense or was_dense else _GAP
        elif not dense:
            pattern += r"(?<![^\W_])"
        pattern += re.escape(segment[0])
        was_dense = dense
    if was_dense:
        return pattern or r"(?!)"
    return pattern + (r"[^\W_]*" if unfinished else r"(?![^\W_])")


def _after_marks(text: str, end: int) -> int:
    """Vowel signs and accents belong to the letter before them."""
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
    """A little before the hit that has most different ones after it."""
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
    """One line: white space of any kind, however much, is a blank."""
    return re.sub(r"\s+", " ", text)
