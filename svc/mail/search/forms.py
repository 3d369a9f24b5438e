"""The forms of a word: ``plan``, ``plans``, ``planning``. Words with a stem in common are taken for forms of one.

The stems are Snowball's, which most full-text engines use. A stem is worth what is known of the language: so each word
is stemmed as the language of its message has it (``tongues.py``), and in all of them where that is not known. A word
with accents has the stem of its letters without them as well, since people type both.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Final

import Stemmer

from svc.mail.search.text import folded
from svc.mail.search.tongues import LANGUAGES, UNKNOWN

MIN_WORD_CHARS: Final = 3
MAX_WORD_CHARS: Final = 24
"""Longer ones are no words but keys and codes; they are found as they are."""

_NAMES: Final = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ru": "russian", "sv": "swedish",
}  # fmt: skip
_AT_REST: Final[deque[dict[str, Stemmer.Stemmer]]] = deque()
"""Sets of stemmers that nobody uses just now: one keeps its word in itself, and searches run in several threads."""

_CYRILLIC: Final = re.compile("[\u0400-\u04ff]+")
_LATIN: Final = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]+")
_JOINED: Final = re.compile(r"(?:\b(?:[cdjlmnst]|qu|un|all|dall|dell|nell|sull)['’])?([^\W\d_]+)(?:['’]s)?")


def is_inflected(word: str) -> bool:
    """Whether it is a word that has forms, as far as known here; in small letters."""
    letters = _LATIN.fullmatch(word) or _CYRILLIC.fullmatch(word)
    return letters is not None and MIN_WORD_CHARS <= len(word) <= MAX_WORD_CHARS


def core(typed: str) -> str:
    """The word in what was typed, in small letters: without ``l'`` in front of it and ``'s`` after it; or nothing."""
    match = _JOINED.fullmatch(typed.lower())
    return match[1] if match and is_inflected(match[1]) else ""


def stems(word: str, language: str) -> frozenset[str]:
    """What the word has in common with its other forms, without accents. ``UNKNOWN``: in any language."""
    return stems_in(word, LANGUAGES if language == UNKNOWN else (language,))


def stems_in(word: str, languages: tuple[str, ...]) -> frozenset[str]:
    """In any of these."""
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
