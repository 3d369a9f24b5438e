"""The words by which a person is found, without regard to case and diacritics. Pure functions.

A word of a name counts as a whole (``smith-jones``) and in its parts (``smith``, ``jones``). An address counts as a
whole, by the parts before the ``@``, and by its domain. A query is split the same way, and each of its words is a
prefix.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

MAX_WORDS: Final = 24  # per person
MAX_WORD_CHARS: Final = 100
MAX_TYPED_WORDS: Final = 6
END: Final = "\U0010ffff"
"""Sorts after every continuation of a word."""

_PLAIN: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)
_PARTS: Final = re.compile(r"[^\W_]+")
_EDGES: Final = " \t\"'`()<>[]{},;:.!?“”„‘’«»"


def folded(text: str) -> str:
    """The text without case and diacritics. Letters that do not decompose (ø, ł) become the letters that people type
    for them.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(one for one in decomposed if unicodedata.category(one) != "Mn").translate(_PLAIN)


def words_of(name: str, address: str) -> tuple[str, ...]:
    """The words by which this name and address are found, those of the name first."""
    found: dict[str, None] = {}
    for word in folded(name).split():
        found[word.strip(_EDGES)] = None
        found.update(dict.fromkeys(_PARTS.findall(word)))
    local, _, domain = folded(address).partition("@")
    found[f"{local}@{domain}"] = None
    found[domain] = None
    found.update(dict.fromkeys(_PARTS.findall(local)))
    return tuple(dict.fromkeys(word[:MAX_WORD_CHARS] for word in found if word))[:MAX_WORDS]


def typed_words(text: str) -> tuple[str, ...]:
    """The words of a query as prefixes; the longest first, because it is usually the most selective."""
    words = {word.strip(_EDGES)[:MAX_WORD_CHARS] for word in folded(text).split()} - {""}
    return tuple(sorted(words, key=lambda word: (-len(word), word)))[:MAX_TYPED_WORDS]


def are_of(prefixes: Sequence[str], *, name: str, address: str) -> bool:
    """Whether each of ``prefixes`` (:func:`typed_words`) begins a word of this name and address."""
    text = folded(f"{name} {address}")
    if not all(prefix in text for prefix in prefixes):
        return False
    words = words_of(name, address)
    return all(any(word.startswith(prefix) for word in words) for prefix in prefixes)
