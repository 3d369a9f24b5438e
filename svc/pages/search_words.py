"""The words of a page as the full-text table has them, and what somebody typed as its query. Pure functions.

The tokenizer (``unicode61``) takes runs of letters, marks and digits for words, without case and diacritics. Where a
script has no spaces, each of its characters is a word of its own here, and any part of a text is a phrase of them: a
joint stands around each, which :func:`restored` takes away. Of Markdown only what a reader sees is kept.
"""

from __future__ import annotations

import re
from typing import Final

MAX_INDEXED_CHARS: Final = 100_000  # of one page's text
MAX_TYPED_WORDS: Final = 8
MIN_PREFIX_CHARS: Final = 2
"""What the full-text table keeps a list for; one letter stands for a word of one letter."""
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
"""What a page that sets something up begins with, in one line."""


def indexed(text: str) -> str:
    """A title or a readable text, for the tokenizer."""
    return _UNSPACED.sub(rf"{_JOINT}\g<0>{_JOINT}", text.replace(_JOINT, ""))


def restored(text: str) -> str:
    """What :func:`indexed` was given."""
    return text.replace(_JOINT, "")


def readable(markdown: str) -> str:
    """What a reader sees of it, in one line."""
    text = _LINK.sub(r"\1", markdown[:MAX_INDEXED_CHARS])
    text = _PAGE_LINK.sub(r"\1", text)
    text = _MARKS.sub("", _LINE_SIGNS.sub("", text))
    return _BLANKS.sub(" ", text).strip()


def typed_words(text: str) -> list[str]:
    """What holds a letter or a digit; the rest is no word of any page."""
    return [word for word in text.split() if any(map(str.isalnum, word))][:MAX_TYPED_WORDS]


def expression(words: list[str]) -> str:
    """A full-text query for all of these, each of which may be the beginning of a word."""
    return " AND ".join(map(_phrase, words))


def snippet(text: str, words: list[str]) -> str:
    """The passage around the first word that stands there to the letter; else the beginning. Of front matter nothing
    is shown, unless a word stands there alone."""
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
    plain = text.lower()
    return [at for word in words if (at := plain.find(word.lower())) >= 0]


def _phrase(word: str) -> str:
    quoted = indexed(word).replace('"', '""')
    return f'"{quoted}"{"*" if len(word) >= MIN_PREFIX_CHARS else ""}'
