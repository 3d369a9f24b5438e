"""Words as the index has them: text made ready for SQLite's tokenizer, and given back as it was.

The tokenizer (``unicode61``) takes runs of letters, marks and digits for words, without case and diacritics. Where a
script has no spaces, that would make a word of each sentence; so runs of such scripts are written as overlapping pairs,
with the last character once more alone, and any part of a run is then a phrase of pairs. An emoji is no letter: a
private character that stands for it is put beside it. Letters without a simpler one in them (``ø``, ``ß``, ``æ``) are
written with those that people type for them. All are marked, so that :func:`restored` can take them back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

VERSION: Final = 4
"""Count it up when the same message would now give other words, or its row another line: every index is then made anew,
in the background."""

MIN_PREFIX_CHARS: Final = 3
"""What the full-text table keeps a list for; a shorter beginning would name half of all mail."""

MIN_NAMED_PREFIX_CHARS: Final = 2
"""In subject and people alone, whose words are few enough to be gathered at each key."""

_JOINT: Final = "\u2060"  # between pairs and around what would else grow together: a separator that mail has no use for
_STAND_INS: Final = 0xF0000  # private characters, which the tokenizer takes for letters
_KANJI: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_HANGUL: Final = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_SOUTH_EAST: Final = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
_EMOJI_CHARS: Final = "\u231a-\u23ff\u2600-\u2775\u2794-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"

DENSE: Final = re.compile(f"[{_KANJI}{_HANGUL}{_SOUTH_EAST}]+")
EMOJI: Final = re.compile(f"[{_EMOJI_CHARS}]")
_WRAPPED: Final = re.compile(f"(?<=[{_KANJI}])\n(?=[{_KANJI}])")  # such lines break anywhere, also within a word
_OF_ANOTHER_WIDTH: Final = re.compile("[\ufb00-\ufb06\uff01-\uffef]+")
_WAS_ANOTHER: Final = "\u032e"  # after letters that stand for another: the tokenizer drops it, and no language has it
_BASES: Final = {
    "ø": "o", "ł": "l", "đ": "d", "ð": "d\0", "ħ": "h", "ŧ": "t", "ı": "i", "ɨ": "i\0", "ƀ": "b", "ŋ": "n", "ŀ": "l\0",
    "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ĳ": "ij", "ə": "e",
}  # fmt: skip
"""``\\0``: the second letter with the same base."""
_DROPPED: Final = re.compile("[\u00ad\u032e\u2060\U000e0100-\U000e01ef\U000f0000-\U000ffffd]")
_VARIATIONS: Final = re.compile("[\ufe00-\ufe0f]")
_PAIRED: Final = re.compile(f"(.){_JOINT}\\1", re.DOTALL)
_ADDED: Final = re.compile(f"[{_JOINT}\U000f0000-\U000ffffd]")
_CAPITALS: Final = {large: base.upper() for letter, base in _BASES.items() if len(large := letter.upper()) == 1}
_CAPITALS_TOO: Final = {**_BASES, **_CAPITALS, "ẞ": "SS"}
_LETTERS: Final = {ord(letter): base.rstrip("\0") for letter, base in _CAPITALS_TOO.items()}
_MARKED: Final = {
    ord(letter): base.rstrip("\0") + _WAS_ANOTHER * (1 + base.count("\0")) for letter, base in _CAPITALS_TOO.items()
}
_UNMARKED: Final = {marked: chr(letter) for letter, marked in _MARKED.items()}
_MARKED_LETTERS: Final = re.compile(
    "|".join(f"{re.escape(one)}(?!{_WAS_ANOTHER})" for one in sorted(_UNMARKED, key=len, reverse=True))
)
_LONGER: Final = re.compile(f"[{''.join(chr(letter) for letter, base in _LETTERS.items() if len(base) > 1)}]")
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})


def indexable(text: str) -> str:
    """The text as the index is given it."""
    if text.isascii():
        return text
    text = EMOJI.sub(_with_stand_in, _WRAPPED.sub("", normal(text)))
    return DENSE.sub(_in_pairs, text.translate(_MARKED))


def restored(text: str) -> str:
    """What :func:`indexable` was given, but for its normal form."""
    if text.isascii():
        return text
    if _WAS_ANOTHER in text:
        text = _MARKED_LETTERS.sub(lambda match: _UNMARKED[match[0]], text)
    return _ADDED.sub("", _PAIRED.sub(r"\1", text))


def normal(text: str) -> str:
    """One form for what is written in several: composed characters, of the usual width, without hidden hyphens."""
    if text.isascii():
        return text
    text = _DROPPED.sub("", unicodedata.normalize("NFC", text))
    return _OF_ANOTHER_WIDTH.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)


def phrase(words: str, *, unfinished: bool, from_chars: int = MIN_PREFIX_CHARS) -> tuple[str, bool] | None:
    """What a person typed, as a phrase for the index; and whether its last word may go on, from so many letters.

    ``None`` if there is nothing in it to look for.
    """
    words = typed(words)
    if not words:
        return None
    runs = list(DENSE.finditer(words))
    last = runs[-1][0] if runs and runs[-1].end() == len(words) else ""
    pairs = EMOJI.sub(_with_stand_in, DENSE.sub(_in_pairs, words))
    if len(last) > 1:
        pairs = pairs.removesuffix(_JOINT).removesuffix(last[-1])  # in the mail the run may go on
    return pairs, len(last) == 1 or (not last and unfinished and len(_last_word(words)) >= from_chars)


def typed(words: str) -> str:
    """What a person typed without what the index has not: it ends with a character that is part of a word."""
    words = _VARIATIONS.sub("", normal(words))
    end = len(words)
    while end and not _counts(words[end - 1]):
        end -= 1
    return words[:end]


def spellings(words: str) -> tuple[str, ...]:
    """The ways in which the same word is written; the tokenizer itself takes ``ü`` for ``u``.

    The word with its own letters is among them: so it stands where an older version took a message's words.
    """
    words = normal(words)
    found = (words, words.translate(_LETTERS), words.translate(_UMLAUTS).translate(_LETTERS), words.replace("ss", "ß"))
    return tuple(dict.fromkeys(found))


def simple(word: str) -> str:
    """With the letters that the index has for those without a simpler one in them."""
    return word.translate(_LETTERS)


def folded(text: str) -> str:
    """The text as it is compared: character for character, but for those that :func:`places` tells of."""
    return text.lower() if text.isascii() else text.translate(_FOLDED)


def places(text: str) -> Sequence[int]:
    """For each character of the folded text, and for its end, where in ``text`` it comes from."""
    if text.isascii() or not _LONGER.search(text):
        return range(len(text) + 1)
    return [*(at for at, char in enumerate(text) for _ in folded(char)), len(text)]


def _counts(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "LMN" or category == "Co" or EMOJI.match(char) is not None


def _last_word(words: str) -> str:
    start = len(words)
    while start and _counts(words[start - 1]) and not EMOJI.match(words[start - 1]):
        start -= 1
    return words[start:]


def _in_pairs(match: re.Match[str]) -> str:
    run = match[0]
    pairs = [run[at : at + 2] for at in range(len(run) - 1)]
    return f"{_JOINT}{_JOINT.join([*pairs, run[-1]])}{_JOINT}"


def _with_stand_in(match: re.Match[str]) -> str:
    return f"{match[0]}{_JOINT}{chr(_STAND_INS + (ord(match[0]) & 0xFFFF))}{_JOINT}"


class _Folded(dict[int, str]):
    """Each character's folded form, worked out when it first comes up."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if code in _LETTERS:
            self[code] = _LETTERS[code].lower()
            return self[code]
        base = char if DENSE.match(char) else unicodedata.normalize("NFD", char)[0]
        found = self[code] = base.lower()[0]
        return found


_FOLDED: Final = _Folded()
