"""Handles sanitized HTML that shows nothing: the mail's text is shown instead, or a sentence that says so.

Reads only sanitized HTML and relies on its form. Letters, signs and images of some size show something; a rule, an
empty table or a tracking image does not.
"""

from __future__ import annotations

import html as _html
import re
from dataclasses import replace
from typing import Final

from svc.formats.html.model import CleanHtml
from svc.formats.html.plain import text_to_html
from svc.formats.text import clean_line

TRACKER_PX: Final = 2
"""An image of at most this width or height is a tracking image: it only counts readers."""

_NO_TEXT: Final = "<p><em>This message has no text.</em></p>"
_TAG: Final = re.compile("<[^<>]*>")
_IMAGE: Final = re.compile("<img [^<>]*>")
_SIDE: Final = re.compile(r' (?:width|height)="([0-9]+)"')


def or_text(clean: CleanHtml, text: str) -> CleanHtml:
    """``clean``, or the mail's ``text`` if ``clean`` shows nothing. Tracking images stay, so that the reader can choose
    to load them."""
    if shows_something(clean.html):
        return clean
    shown = text_to_html(text, folds=True) if clean_line(text) else _NO_TEXT
    return replace(clean, html="".join((shown, *_IMAGE.findall(clean.html))))


def shows_something(html: str) -> bool:
    if any(not _counts_readers(image) for image in _IMAGE.findall(html)):
        return True
    return bool(clean_line(_html.unescape(_TAG.sub(" ", html))))


def _counts_readers(image: str) -> bool:
    return any(int(side) <= TRACKER_PX for side in _SIDE.findall(image))
