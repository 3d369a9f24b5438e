"""Makes text of models and strangers safe to show: removes invisible characters and makes control characters visible.

Links and pictures need no rule here: the result is shown as text, by ``textContent``, and nothing in it is fetched.
"""

from __future__ import annotations

import re
from typing import Final

_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\u2800\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)
_JOINERS: Final = re.compile(
    # These are part of the writing between joining letters, and within emoji of several signs. Elsewhere they are
    # unseen.
    "(?<![\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af\ufb50-\ufeff\ufe0f\u2600-\u27bf"
    "\U0001f000-\U0001faff])[\u200c\u200d]+|(?<=[\u200c\u200d])[\u200c\u200d]+|(?<![#*0-9\u00a9-\u3299"
    "\U0001f000-\U0001faff])\ufe0f+|(?<=\ufe0f)\ufe0f+"
)
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_SEPARATORS: Final = (0x2028, 0x2029)
_PICTURES: Final = 0x2400
_DELETE: Final = 0x7F
_NEWLINE: Final = "\u2424"
"""Shown for U+2028 and U+2029, which end a line in some programs and are invisible in others."""


def inert(text: str) -> str:
    """The text without characters that hide or reorder; control characters become signs such as ``␛``."""
    return _CONTROLS.sub(_shown, _JOINERS.sub("", _UNSEEN.sub("", text.replace("\r\n", "\n"))))


def hidden_in(text: str) -> bool:
    """Whether it contains something that a reader would not see."""
    return first_hidden(text) is not None


def first_hidden(text: str) -> str | None:
    """The first character that a reader would not see; ``None`` if there is none."""
    seen = text.replace("\r\n", "\n")
    hits = [found for pattern in (_UNSEEN, _JOINERS, _CONTROLS) if (found := pattern.search(seen)) is not None]
    return min(hits, key=re.Match.start).group()[0] if hits else None


def _shown(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code == _DELETE:
        return "\u2421"
    if code in _SEPARATORS:
        return _NEWLINE
    return chr(_PICTURES + code) if code < 0x20 else "\ufffd"
