"""The entries that a text adds to a vocabulary: each of its words under its stems, in the language of the text.

For many texts together they are computed in a worker process: in a thread of the service this held the interpreter's
lock (GIL) for a fifth of a first sync.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Final

import msgspec

from svc.formats.words.forms import is_inflected, stems
from svc.formats.words.languages import language_of
from svc.formats.words.text import folded, restored

MAX_WORDS: Final = 2_000
"""Only the first this many different words of a text are used; a text with more is a list."""

_REMEMBERED: Final = 50_000
_TOKEN: Final = re.compile(r"[^\W_]+")

Form = tuple[str, str, str]
"""A stem; the word as in the index, without accents; and the word as it is written, or "" if that is the same."""


class Entries(msgspec.Struct, frozen=True, array_like=True):
    """``forms``: no stem and word twice. ``language``: a two-letter code, or "" if it is not known."""

    language: str
    forms: tuple[Form, ...]


_DECODER: Final = msgspec.msgpack.Decoder(Entries)


def entries_of_text(indexed: str) -> Entries:
    """The entries of a text, as the index has it."""
    found = dict.fromkeys(_TOKEN.findall(restored(indexed).lower()))
    language = language_of(found.keys())
    words = islice((word for word in found if is_inflected(word)), MAX_WORDS)
    return Entries(language, tuple(dict(chain.from_iterable(_forms(word, language) for word in words)).values()))


def entries_of_each(indexed: Sequence[str]) -> list[bytes]:
    """In a worker: the entries of several texts, each as compact bytes."""
    return [msgspec.msgpack.encode(entries_of_text(one)) for one in indexed]


def unpacked(data: bytes) -> Entries:
    """One text's result of :func:`entries_of_each`."""
    return _DECODER.decode(data)


@lru_cache(maxsize=_REMEMBERED)
def _forms(word: str, language: str) -> tuple[tuple[tuple[str, str], Form], ...]:
    """The forms of one word, by stem and word; cached, because mails have the same words again and again. Only words
    that :func:`is_inflected` come here: a cache of what strangers write needs keys of a bounded length."""
    plain = folded(word)
    written = "" if word == plain else word
    return tuple(((stem, plain), (stem, plain, written)) for stem in stems(word, language))
