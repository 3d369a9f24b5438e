"""The readable text of a message's body, from both of its versions: for searching in it."""

from __future__ import annotations

from typing import Final

from svc.formats.snippet import plain, text_with_quotations

MAX_BODY_CHARS: Final = 100_000
"""Of a longer body, only the beginning is read."""

MAX_HTML_CHARS: Final = 512 * 1024
TEXT_SAYS_ENOUGH_CHARS: Final = 1_000
"""A plain text at least this long replaces the HTML; a shorter one may only say that there is HTML."""
_MARKS: Final = str.maketrans({">": " ", "*": None, "_": None})
"""How a plain text writes quotations and emphasis."""


def readable_text(text: str, html: str | None) -> str:
    """``html`` is as the sender wrote it. Its quotations are marked with ``>``, so that they are known as such."""
    text = plain(text[:MAX_BODY_CHARS])
    if html and len(text) < TEXT_SAYS_ENOUGH_CHARS:
        shown = text_with_quotations(html[:MAX_HTML_CHARS])[:MAX_BODY_CHARS]
        return shown if _flat(text) in _flat(shown) else f"{text}\n{shown}"
    return text


def _flat(text: str) -> str:
    return " ".join(text.translate(_MARKS).split())
