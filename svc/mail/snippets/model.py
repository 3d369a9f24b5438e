"""The record of a snippet, and its limits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from svc.clock import Millis

MAX_SNIPPETS: Final = 300
"""Snippets of one person. Beyond: 409 `conflict`."""
MAX_NAME_CHARS: Final = 40
"""The name of a snippet. Beyond: 400 `invalid`, with the name of the field."""
MAX_HTML_CHARS: Final = 64 * 1024
"""The HTML of a snippet. Beyond: 400 `invalid`, with the name of the field."""
MAX_ALL_CHARS: Final = 1024 * 1024
"""All snippets of one person together: the app has them at hand. Beyond: 413 `too_large`."""
MAX_RECIPIENTS: Final = 50
"""Recipients that a snippet brings, of each kind. Beyond: 400 `invalid`, with the name of the field."""

NAME: Final = re.compile(r"[^\W_][\w-]*")
"""A name can be typed behind a semicolon, and its end is always clear."""


@dataclass(frozen=True, kw_only=True)
class Snippet:
    id: str
    name: str
    html: str
    subject: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    bcc: tuple[str, ...]
    updated_at: Millis


@dataclass(frozen=True, kw_only=True)
class SnippetInput:
    """The new content of a snippet. ``html`` is already sanitized."""

    name: str
    html: str
    subject: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    bcc: tuple[str, ...]
