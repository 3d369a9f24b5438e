"""Converts text for SQLite's full-text tokenizer, and converts it back.

The tokenizer (``unicode61``) treats runs of letters, marks and digits as words, without case and diacritics. In a
script without spaces, each sentence would be one word. So runs of such scripts are written as overlapping pairs, with
the last character once more alone, and any part of a run is then a phrase of pairs. An emoji is not a letter, so a
private-use character for it is added beside it. Letters that do not decompose into a base letter (``ø``, ``ß``, ``æ``)
are replaced by the letters that people type for them. All changes are marked, so that :func:`restored` can undo them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

MIN_PREFIX_CHARS: Final = 3
"""The prefix length that the full-text table has an index for. A shorter prefix would match half of all mail."""

MIN_NAMED_PREFIX_CHARS: Final = 2
"""The shortest prefix in subject and people. They have so few words that all can be collected at each key press."""

_JOINT: Final = "\u2060"  # separates pairs and additions from their neighbours; mail does not use it
_STAND_INS: Final = 0xF0000  # private-use characters, which the tokenizer treats as letters
_KANJI: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_HANGUL: Final = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_SOUTH_EAST: Final = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
_EMOJI_CHARS: Final = "\u231a-\u23ff\u2600-\u2775\u2794-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"

DENSE: Final = re.compile(f"[{_KANJI}{_HANGUL}{_SOUTH_EAST}]+")
EMOJI: Final = re.compile(f"[{_EMOJI_CHARS}]")
_WRAPPED: Final = re.compile(f"(?<=[{_KANJI}])\n(?=[{_KANJI}])")  # such text breaks lines anywhere, also within a word
_OF_ANOTHER_WIDTH: Final = re.compile("[\ufb00-\ufb06\uff01-\uffef]+")
_WAS_ANOTHER: Final = "\u032e"  # follows a replaced letter: the tokenizer drops it, and no language uses it
_BASES: Final = {
    "ø": "o", "ł": "l", "đ": "d", "ð": "d\0", "ħ": "h", "ŧ": "t", "ı": "i", "ɨ": "i\0", "ƀ": "b", "ŋ": "n", "ŀ": "l\0",
    "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ĳ": "ij", "ə": "e",
}  # fmt: skip
"""``\\0`` marks the second letter that has the same base."""
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
    """The text converted for the index."""
    if text.isascii():
        return text
    text = EMOJI.sub(_with_stand_in, _WRAPPED.sub("", normal(text)))
    return DENSE.sub(_in_pairs, text.translate(_MARKED))


def restored(text: str) -> str:
    """The text that :func:`indexable` was given, in its normal form."""
    if text.isascii():
        return text
    if _WAS_ANOTHER in text:
        text = _MARKED_LETTERS.sub(lambda match: _UNMARKED[match[0]], text)
    return _ADDED.sub("", _PAIRED.sub(r"\1", text))


def normal(text: str) -> str:
    """The normal form of a text: composed characters (NFC), of the usual width, without soft hyphens."""
    if text.isascii():
        return text
    text = _DROPPED.sub("", unicodedata.normalize("NFC", text))
    return _OF_ANOTHER_WIDTH.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)


def phrase(words: str, *, unfinished: bool, from_chars: int = MIN_PREFIX_CHARS) -> tuple[str, bool] | None:
    """The typed words as a phrase for the index, and whether its last word is a prefix (of at least ``from_chars``
    letters). ``None`` if there is nothing to search for.
    """
    words = typed(words)
    if not words:
        return None
    runs = list(DENSE.finditer(words))
    last = runs[-1][0] if runs and runs[-1].end() == len(words) else ""
    pairs = EMOJI.sub(_with_stand_in, DENSE.sub(_in_pairs, words))
    if len(last) > 1:
        pairs = pairs.removesuffix(_JOINT).removesuffix(last[-1])  # in the mail more characters may follow
    return pairs, len(last) == 1 or (not last and unfinished and len(_last_word(words)) >= from_chars)


def typed(words: str) -> str:
    """The typed words in normal form, without characters at the end that the index does not have."""
    words = _VARIATIONS.sub("", normal(words))
    end = len(words)
    while end and not _counts(words[end - 1]):
        end -= 1
    return words[:end]


def spellings(words: str) -> tuple[str, ...]:
    """The ways to write the same word; the tokenizer itself treats ``ü`` as ``u``.

    The word with its original letters is one of them, because messages indexed by an older version have it so.
    """
    words = normal(words)
    found = (words, words.translate(_LETTERS), words.translate(_UMLAUTS).translate(_LETTERS), words.replace("ss", "ß"))
    return tuple(dict.fromkeys(found))


def simple(word: str) -> str:
    """The word with ``ø``, ``ß``, ``æ`` and the like replaced as in the index."""
    return word.translate(_LETTERS)


def folded(text: str) -> str:
    """The text folded for comparison. Each character becomes one, except those that :func:`places` accounts for."""
    return text.lower() if text.isascii() else text.translate(_FOLDED)


def places(text: str) -> Sequence[int]:
    """For each character of the folded text, and for its end, its position in ``text``."""
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
    """A cache of each character's folded form, computed at its first use."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if code in _LETTERS:
            self[code] = _LETTERS[code].lower()
            return self[code]
        base = char if DENSE.match(char) else unicodedata.normalize("NFD", char)[0]
        found = self[code] = base.lower()[0]
        return found


_FOLDED: Final = _Folded()
