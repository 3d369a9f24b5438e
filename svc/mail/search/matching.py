"""Whether a text has the words that are searched for, and where: the index's judgement, for a text at hand.

The index can tell that a message has the words, but not where, and of one message only by going through others. What is
decided here is therefore no more than the order of what was found, the passage shown, and whether a thread had its turn
on an earlier page: where it takes a rare letter otherwise than the index does, that is all that is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from svc.mail.search.model import COLUMNS, Column
from svc.mail.search.text import DENSE, EMOJI, folded, restored, typed

FAR_APART: Final = "\n" * 24
"""Between two texts that are searched as one: no phrase goes across."""

_SEGMENT: Final = re.compile(rf"({DENSE.pattern}|{EMOJI.pattern})|([^\W_]+)")
_GAP: Final = r"[\W_]{1,20}"
_MAYBE_GAP: Final = r"[\W_]{0,20}"


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Words to look for, in some columns."""

    pattern: re.Pattern[str]
    columns: tuple[Column, ...]

    @property
    def is_free(self) -> bool:
        """No column was asked for."""
        return self.columns == COLUMNS


@dataclass(frozen=True, kw_only=True)
class Matcher:
    """``wanted``: of each group any must be there; ``left_out``: none of them may."""

    wanted: tuple[tuple[Mark, ...], ...]
    left_out: tuple[Mark, ...]

    @property
    def has_free_words(self) -> bool:
        return any(mark.is_free for mark in self.marks)

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(mark for group in self.wanted for mark in group)

    def is_in(self, text: str) -> bool:
        """Whether all words that may stand anywhere stand in this text."""
        compared = folded(restored(text))
        return all(any(not mark.is_free or mark.pattern.search(compared) for mark in group) for group in self.wanted)

    def matches(self, columns: Mapping[Column, str]) -> bool:
        """Whether a message of these texts is one that is searched for."""
        compared = {column: folded(restored(text)) for column, text in columns.items()}
        return all(any(_is_in(mark, compared) for mark in group) for group in self.wanted) and not any(
            _is_in(mark, compared) for mark in self.left_out
        )


def mark_of(phrases: Sequence[tuple[str, bool]], columns: tuple[Column, ...]) -> Mark:
    """Any of these phrases; with each, whether its last word may go on."""
    alternatives = [_pattern_of(folded(typed(words)), unfinished=unfinished) for words, unfinished in phrases]
    return Mark(pattern=re.compile("|".join(alternatives)), columns=columns)


def _is_in(mark: Mark, compared: Mapping[Column, str]) -> bool:
    return any(mark.pattern.search(compared[column]) for column in mark.columns)


def _pattern_of(words: str, *, unfinished: bool) -> str:
    return "".join(_parts(words, unfinished=unfinished)) or r"(?!)"


def _parts(words: str, *, unfinished: bool) -> Iterator[str]:
    was_dense = None
    for segment in _SEGMENT.finditer(words):
        dense = segment[1] is not None
        if was_dense is not None:
            yield _MAYBE_GAP if dense or was_dense else _GAP
        word = re.escape(segment[0])
        yield word
        if was_dense is None and not dense:
            yield rf"(?<![^\W_]{word})"  # after the word, which is searched for many times quicker than any condition
        was_dense = dense
    if was_dense is False:
        yield r"[^\W_]*" if unfinished else r"(?![^\W_])"
