"""The forms of a word: ``plan``, ``plans``, ``planning``. Words with a common stem count as forms of one word.

The stems are Snowball's, which most full-text engines use. A stem is only right in its language: so each word is
stemmed in the language of its message (``languages.py``), and in all languages if that is not known. A word with
accents also gets the stem of the word without accents, because people type both.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Final

import Stemmer

from svc.formats.words.languages import LANGUAGES, UNKNOWN
from svc.formats.words.text import folded

MIN_WORD_CHARS: Final = 3
MAX_WORD_CHARS: Final = 24
"""Longer ones are not words but keys and codes; they are found only as they are."""

_NAMES: Final = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ru": "russian", "sv": "swedish",
}  # fmt: skip
_AT_REST: Final[deque[dict[str, Stemmer.Stemmer]]] = deque()
"""A pool of stemmer sets that are not in use: a stemmer is not thread-safe, and searches run in several threads."""

_CYRILLIC: Final = re.compile("[\u0400-\u04ff]+")
_LATIN: Final = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]+")
_JOINED: Final = re.compile(r"(?:\b(?:[cdjlmnst]|qu|un|all|dall|dell|nell|sull)['’])?([^\W\d_]+)(?:['’]s)?")


def is_inflected(word: str) -> bool:
    """Whether the word, in lower case, may have other forms: Latin or Cyrillic letters only, of the right length."""
    letters = _LATIN.fullmatch(word) or _CYRILLIC.fullmatch(word)
    return letters is not None and MIN_WORD_CHARS <= len(word) <= MAX_WORD_CHARS


def core(typed: str) -> str:
    """The typed word in lower case, without a leading ``l'`` and a trailing ``'s``; empty if there is no such word."""
    match = _JOINED.fullmatch(typed.lower())
    return match[1] if match and is_inflected(match[1]) else ""


def stems(word: str, language: str) -> frozenset[str]:
    """The stems of the word, without accents, in this language, or in all for ``UNKNOWN``."""
    return stems_in(word, LANGUAGES if language == UNKNOWN else (language,))


def stems_in(word: str, languages: tuple[str, ...]) -> frozenset[str]:
    """The stems of the word, without accents, in these languages."""
    written = {word, folded(word)}
    stemmers = _taken()
    found = {stemmers[language].stemWord(one) for language in languages for one in written}
    _AT_REST.append(stemmers)
    return frozenset(map(folded, found))


def _taken() -> dict[str, Stemmer.Stemmer]:
    try:
        return _AT_REST.pop()
    except IndexError:
        return {language: Stemmer.Stemmer(_NAMES[language], 0) for language in LANGUAGES}
