"""Whether a text has the words that are searched for, and where: the index's judgement, for a text at hand.

The index can tell that a message has the words, but not where, and of one message only by going through others. What is
decided here is therefore no more than the passage shown, and whether a thread had its turn on an earlier page: where it
takes a rare letter otherwise than the index does, that is all that is lost.

Signs are another matter: the index has none, so that for it ``C++``, ``C#`` and ``C`` are one. Where a word has such a
sign at it, only what is found here is a hit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from svc.mail.search.model import Column
from svc.mail.search.text import DENSE, EMOJI, folded, normal, restored

CURRENCIES: Final = "$¢-¥\u20a0-\u20cf"
_SIGN: Final = f"[+#%&@§№°{CURRENCIES}]"
_OF_NUMBERS: Final = re.compile(f"[%§№°{CURRENCIES}]+")
_DOT: Final = r"(?<![^\s(\[{<\"'])\.(?=[^\W\d_])"  # of .NET
_SEGMENT: Final = re.compile(
    rf"({DENSE.pattern}|{EMOJI.pattern})|([^\W_]+)|((?<=[^\W_]){_SIGN}+|{_SIGN}+(?=[^\W_])|{_DOT})"
)
_MAYBE_BLANK: Final = r"[ \u00a0\u2009\u202f]?"
_GAP: Final = r"[\W_]{1,20}"
_MAYBE_GAP: Final = r"[\W_]{0,20}"


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Words to look for, in some columns."""

    pattern: re.Pattern[str]
    columns: tuple[Column, ...]
    has_signs: bool = False


@dataclass(frozen=True, kw_only=True)
class Matcher:
    """``wanted``: of each group any must be there; ``left_out``: none of them may."""

    wanted: tuple[tuple[Mark, ...], ...]
    left_out: tuple[Mark, ...]

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(mark for group in self.wanted for mark in group)

    @property
    def of_signs(self) -> Matcher | None:
        """What the index can't decide: groups with a sign in them, and words with one that are left out."""
        wanted = tuple(group for group in self.wanted if any(mark.has_signs for mark in group))
        left_out = tuple(mark for mark in self.left_out if mark.has_signs)
        return Matcher(wanted=wanted, left_out=left_out) if wanted or left_out else None

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those that have to be looked at."""
        return tuple(dict.fromkeys(column for mark in (*self.marks, *self.left_out) for column in mark.columns))

    def matches(self, columns: Mapping[Column, str]) -> bool:
        """Whether a message of these texts is one that is searched for."""
        compared = {column: folded(restored(text)) for column, text in columns.items()}
        return all(any(_is_in(mark, compared) for mark in group) for group in self.wanted) and not any(
            _is_in(mark, compared) for mark in self.left_out
        )


def mark_of(phrases: Sequence[tuple[str, bool]], columns: tuple[Column, ...]) -> Mark:
    """Any of these phrases; with each, whether its last word may go on."""
    alternatives = [_pattern_of(folded(normal(words)), unfinished=unfinished) for words, unfinished in phrases]
    return Mark(
        pattern=re.compile("|".join(dict.fromkeys(alternatives))),
        columns=columns,
        has_signs=any(has_signs(words) for words, _ in phrases),
    )


def has_signs(words: str) -> bool:
    """Whether a sign that counts stands at a word: ``C++``, ``.NET``, ``$50``, ``AT&T``; not ``Smith & Sons``."""
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
            yield r"(?<![^\W_])"  # not the one of a host's name
        yield escaped
        if before is None and word:
            yield rf"(?<![^\W_]{escaped})"  # after the word, which is many times quicker to search for
        before = segment
    if before is not None and before[2]:
        yield r"[^\W_]*" if unfinished else r"(?![^\W_])"


def _between(one: re.Match[str], other: re.Match[str]) -> str:
    """What may stand between two pieces of a phrase; a sign stands right at its word, that of a number maybe apart."""
    if one[3] or other[3]:
        if one.end() < other.start():
            return _MAYBE_GAP
        sign, word = (one, other) if one[3] else (other, one)
        return _MAYBE_BLANK if _OF_NUMBERS.fullmatch(sign[0]) and word[0][0].isdecimal() else ""
    return _MAYBE_GAP if one[1] or other[1] else _GAP
