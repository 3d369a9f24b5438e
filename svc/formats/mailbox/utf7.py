"""Modified UTF-7: the names of folders at IMAP servers and in Maildirs (RFC 3501, 5.1.3)."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from typing import Final

_SHIFTED: Final = re.compile(r"&([^-]*)-")
_TO_SHIFT: Final = re.compile(r"&|[^\x20-\x7e]+")
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def decoded(name: str) -> str:
    """Raises :class:`ValueError` for a name that is not written so."""
    return _SHIFTED.sub(_letters, name)


def encoded(name: str) -> str:
    return _TO_SHIFT.sub(lambda found: _packed(found[0]), name)


def without_controls(name: str) -> str:
    """The name to show: as one line, without control characters."""
    return _CONTROLS.sub("", name)


def _letters(found: re.Match[str]) -> str:
    packed = found[1].replace(",", "/")
    return b64decode(packed + "=" * (-len(packed) % 4), validate=True).decode("utf-16-be") if packed else "&"


def _packed(text: str) -> str:
    if text == "&":
        return "&-"
    letters = b64encode(text.encode("utf-16-be", "surrogatepass")).decode().rstrip("=").replace("/", ",")
    return f"&{letters}-"
