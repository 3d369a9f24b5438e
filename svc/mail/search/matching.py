"""Decides whether a given text has the searched words, and where, in the same way as the index does.

The index knows that a message has the words, but not where, and it can't check a single message cheaply. So this module
only decides which passage is shown, and whether a thread was shown on an earlier page. If it treats a rare letter
differently from the index, only these two are affected.

Signs are different: the index has none, so for it ``C++``, ``C#`` and ``C`` are the same word. For a word with such a
sign, only a match found here is a hit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from svc.formats.words.text import DENSE, EMOJI, folded, normal, restored
from svc.mail.search.model import Column

CURRENCIES: Final = "$¢-¥\u20a0-\u20cf"
_SIGN: Final = f"[+#%&@§№°{CURRENCIES}]"
_OF_NUMBERS: Final = re.compile(f"[%§№°{CURRENCIES}]+")
_DOT: Final = r"(?<![^\s(\[{<\"'])\.(?=[^\W\d_])"  # the dot of .NET
_SEGMENT: Final = re.compile(
    rf"({DENSE.pattern}|{EMOJI.pattern})|([^\W_]+)|((?<=[^\W_]){_SIGN}+|{_SIGN}+(?=[^\W_])|{_DOT})"
)
_MAYBE_BLANK: Final = r"[ \u00a0\u2009\u202f]?"
_GAP: Final = r"[\W_]{1,20}"
_MAYBE_GAP: Final = r"[\W_]{0,20}"


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A pattern of searched words, and the columns to look in."""

    pattern: re.Pattern[str]
    columns: tuple[Column, ...]
    has_signs: bool = False


@dataclass(frozen=True, kw_only=True)
class Matcher:
    """``wanted``: of each group at least one must match; ``left_out``: none may match."""

    wanted: tuple[tuple[Mark, ...], ...]
    left_out: tuple[Mark, ...]

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(mark for group in self.wanted for mark in group)

    @property
    def of_signs(self) -> Matcher | None:
        """The part that the index can't decide: wanted groups and excluded words that contain a sign."""
        wanted = tuple(group for group in self.wanted if any(mark.has_signs for mark in group))
        left_out = tuple(mark for mark in self.left_out if mark.has_signs)
        return Matcher(wanted=wanted, left_out=left_out) if wanted or left_out else None

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that must be checked."""
        return tuple(dict.fromkeys(column for mark in (*self.marks, *self.left_out) for column in mark.columns))

    def matches(self, columns: Mapping[Column, str]) -> bool:
        """Whether a message with these texts matches the search."""
        compared = {column: folded(restored(text)) for column, text in columns.items()}
        return all(any(_is_in(mark, compared) for mark in group) for group in self.wanted) and not any(
            _is_in(mark, compared) for mark in self.left_out
        )


def mark_of(phrases: Sequence[tuple[str, bool]], columns: tuple[Column, ...]) -> Mark:
    """A mark for any of these phrases; the flag of each says whether its last word is a prefix."""
    alternatives = [_pattern_of(folded(normal(words)), unfinished=unfinished) for words, unfinished in phrases]
    return Mark(
        pattern=re.compile("|".join(dict.fromkeys(alternatives))),
        columns=columns,
        has_signs=any(has_signs(words) for words, _ in phrases),
    )


def has_signs(words: str) -> bool:
    """Whether a word has a sign that counts: ``C++``, ``.NET``, ``$50``, ``AT&T``; not ``Smith & Sons``."""
    return any(segment[3] for segment in _SEGMENT.finditer(normal(words)))


def ends_with_sign(words: str) -> bool:
    return any(segment[3] and segment.end() == len(words) for segment in _SEGMENT.finditer(words))


def _is_in(mark: Mark, compared: Mapping[Column, str]) -> bool:
    return any(mark.pattern.search(compared[column]) for column in mark.columns)


def _pattern_of(words: str, *, unfinished: bool) -> str:
    return "".join(_parts(words, unfinished=unfinished)) or r"(?!)"


def _parts(words: str, *, unfinished: bool) -> Iterator[str]:
    before: re.Match[str] | None = None
    for segment in _SEGMENT.finditer(words):
        _, word, sign = segment.groups()
        if before is not None:
            yield _between(before, segment)
        escaped = re.escape(segment[0])
        if sign == "." and before is None:
            yield r"(?<![^\W_])"  # not the dot in a host name
        yield escaped
        if before is None and word:
            yield rf"(?<![^\W_]{escaped})"  # checked after the word, which makes the search many times faster
        before = segment
    if before is not None and before[2]:
        yield r"[^\W_]*" if unfinished else r"(?![^\W_])"


def _between(one: re.Match[str], other: re.Match[str]) -> str:
    """The pattern for the gap between two pieces of a phrase. A sign must touch its word; at a number there may be a
    space."""
    if one[3] or other[3]:
        if one.end() < other.start():
            return _MAYBE_GAP
        sign, word = (one, other) if one[3] else (other, one)
        return _MAYBE_BLANK if _OF_NUMBERS.fullmatch(sign[0]) and word[0][0].isdecimal() else ""
    return _MAYBE_GAP if one[1] or other[1] else _GAP
