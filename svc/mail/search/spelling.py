"""Suggests another spelling for a search that finds nothing, or almost nothing: "Did you mean harbour?"

Only words of the searching person's own mail are suggested, and only if the search then finds more. All words at
distance one (a letter too many, missing, wrong, or two swapped) are looked up directly. If there are none, words at
distance two are searched among those with the same beginning.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import Final

from svc.formats.words.forms import MAX_WORD_CHARS, is_inflected
from svc.formats.words.text import folded, normal
from svc.mail.search import queries
from svc.mail.search.model import Query, Text
from svc.mail.search.queries import Known
from svc.store import ReadTx

NEXT_TO_NOTHING: Final = 2
"""Another spelling is only suggested if at most this many threads are found."""

MIN_CHARS: Final = 4
"""Shorter words have too many other words at distance one."""

MIN_CHARS_FOR_TWO_SLIPS: Final = 6
MAX_WORDS: Final = 4
MAX_TRIED: Final = 3
"""How many other spellings of a search are tried."""

SAME_BEGINNING: Final = 3
MAX_COMPARED: Final = 2_000
OFTENER: Final = 10
"""If the mail has the typed word, another word is suggested only if this many times as many messages have it."""

_LATIN: Final = "abcdefghijklmnopqrstuvwxyz"
_CYRILLIC: Final = "абвгдежзиклмнопрстуфхцчшщъыьэюяё"


def respelled(tx: ReadTx, query: Query, typed: str, accounts: Sequence[str], *, known: Container[str]) -> Iterator[str]:
    """The query in other spellings, the likeliest first, at most :data:`MAX_TRIED`. The caller tries them.

    ``known``: words that are right as they were typed.
    """
    texts = [term.what for group in query.groups for term in group if isinstance(term.what, Text) and not term.negated]
    words = dict.fromkeys(
        text.words for text in texts if not text.exact and text.words not in known and _may_be_a_slip(text.words)
    )
    unfinished = {text.words for text in texts if text.unfinished}
    better: dict[str, list[str]] = {}
    for word in list(words)[:MAX_WORDS]:
        if found := _better(tx, word, accounts, unfinished=word in unfinished):
            better[word] = found
    for turn in range(min(MAX_TRIED, max(map(len, better.values()), default=0))):
        yield _with(typed, {word: found[min(turn, len(found) - 1)] for word, found in better.items()})


def _may_be_a_slip(words: str) -> bool:
    return len(words) >= MIN_CHARS and is_inflected(normal(words).lower())


def _better(tx: ReadTx, typed: str, accounts: Sequence[str], *, unfinished: bool) -> list[str]:
    word = folded(normal(typed).lower())
    if unfinished and queries.words_beginning(tx, accounts, word, chars=(len(word) + 1, MAX_WORD_CHARS), limit=1):
        return []  # the word is only not finished
    known = max((one.messages for one in queries.known_words(tx, accounts, [word])), default=0)
    near = queries.known_words(tx, accounts, _one_slip_away(word))
    if not near and not known and len(word) >= MIN_CHARS_FOR_TWO_SLIPS:
        near = _two_slips_away(tx, word, accounts)
    likely = [one for one in near if one.word != word and one.messages >= OFTENER * known]
    likely.sort(key=lambda one: (one.word[0] != word[0], -one.messages, one.word))
    written = dict.fromkeys(one.written for one in likely)
    return [one.capitalize() if typed[0].isupper() else one for one in written][:MAX_TRIED]


def _one_slip_away(word: str) -> Iterator[str]:
    letters = _LATIN if word[0] in _LATIN else _CYRILLIC
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        yield from (before + letter + after for letter in letters)
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in letters)
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]


def _two_slips_away(tx: ReadTx, word: str, accounts: Sequence[str]) -> list[Known]:
    chars = (len(word) - 2, len(word) + 2)
    found = queries.words_beginning(tx, accounts, word[:SAME_BEGINNING], chars=chars, limit=MAX_COMPARED)
    return [one for one in found if slips(word, one.word) <= 2]


def slips(one: str, other: str) -> int:
    """The number of letters that are too many, missing, wrong or swapped with the next (optimal string alignment)."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        line = [row]
        for column, another in enumerate(other, start=1):
            least = min(line[-1] + 1, last[column] + 1, last[column - 1] + (letter != another))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == another:
                least = min(least, before[column - 2] + 1)
            line.append(least)
        before, last = last, line
    return last[-1]


def _with(typed: str, better: dict[str, str]) -> str:
    """The typed query with these words replaced."""
    words = "|".join(map(re.escape, better))
    return re.sub(rf"(?<![^\W_])(?:{words})(?![^\W_])", lambda match: better[match[0]], typed)
