"""Prepares page texts for the full-text table, and typed words for its queries. Pure functions.

The tokenizer (``unicode61``) treats runs of letters, marks and digits as words, without case and diacritics. In a
script without spaces, each character is a word of its own here, so any part of a text is a phrase of them: a joiner
character is put around each, which :func:`restored` removes. Of Markdown only what a reader sees is kept.
"""

from __future__ import annotations

import re
from typing import Final

MAX_INDEXED_CHARS: Final = 100_000
"""The part of the text of a page that is searched. Beyond: the rest is not found."""
MAX_TYPED_WORDS: Final = 8
"""Words of a search for pages. Beyond: later ones are ignored."""
MIN_PREFIX_CHARS: Final = 2
"""The shortest prefix that the full-text table has a list for; a single letter matches only a word of one letter."""
SNIPPET_CHARS: Final = 120
_BEFORE_CHARS: Final = 40

_JOINT: Final = "\u2060"
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3041-\u30ff\u3105-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
_LINK: Final = re.compile(r"!?\[([^\[\]\n]{0,1000})\]\([^()\s]{0,2000}(?: [^()\n]{0,1000})?\)")
_PAGE_LINK: Final = re.compile(r"\[\[([^\[\]\n]{1,1000})\]\]")
_LINE_SIGNS: Final = re.compile(r"^[ \t]*(?:#{1,6}|>|[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\] )?", re.MULTILINE)
_MARKS: Final = re.compile(r"[*`~|]+|(?<!\w)_+|_+(?!\w)")
_BLANKS: Final = re.compile(r"\s+")
_FRONT_MATTER: Final = re.compile(r"--- .*? ---(?: |\Z)")
"""The front matter of a page that configures something, in one line."""


def indexed(text: str) -> str:
    """A title or a readable text, prepared for the tokenizer."""
    return _UNSPACED.sub(rf"{_JOINT}\g<0>{_JOINT}", text.replace(_JOINT, ""))


def restored(text: str) -> str:
    """The text that :func:`indexed` was given."""
    return text.replace(_JOINT, "")


def readable(markdown: str) -> str:
    """The text that a reader sees, in one line."""
    text = _LINK.sub(r"\1", markdown[:MAX_INDEXED_CHARS])
    text = _PAGE_LINK.sub(r"\1", text)
    text = _MARKS.sub("", _LINE_SIGNS.sub("", text))
    return _BLANKS.sub(" ", text).strip()


def typed_words(text: str) -> list[str]:
    """The words that have a letter or a digit; no page has others as words. A NUL, which would end the query for
    SQLite, separates words."""
    return [word for word in text.replace("\0", " ").split() if any(map(str.isalnum, word))][:MAX_TYPED_WORDS]


def expression(words: list[str]) -> str:
    """A full-text query for all of these words, each of which may be the beginning of a word."""
    return " AND ".join(map(_phrase, words))


def snippet(text: str, words: list[str]) -> str:
    """The passage around the first literal occurrence of a word; else the beginning. Front matter is shown only if a
    word occurs nowhere else."""
    front = _FRONT_MATTER.match(text)
    if front is not None and (_places(text[front.end() :], words) or not _places(text, words)):
        text = text[front.end() :]
    found = _places(text, words)
    start = max(0, min(found, default=0) - _BEFORE_CHARS)
    if start > 0:
        start = text.find(" ", start, start + _BEFORE_CHARS) + 1 or start
    passage = text[start : start + SNIPPET_CHARS].strip()
    return f"{'…' if start > 0 else ''}{passage}{'…' if start + SNIPPET_CHARS < len(text) else ''}"


def _places(text: str, words: list[str]) -> list[int]:
    plain = _small(text)
    return [at for word in words if (at := plain.find(_small(word))) >= 0]


def _small(text: str) -> str:
    """The text in small letters, with the same places: only the small ``İ`` has two characters."""
    return text.replace("İ", "i").lower()


def _phrase(word: str) -> str:
    quoted = indexed(word).replace('"', '""')
    return f'"{quoted}"{"*" if len(word) >= MIN_PREFIX_CHARS else ""}'
