"""Modified UTF-7: the names of folders at IMAP servers and in Maildirs (RFC 3501, 5.1.3)."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Final

_SHIFTED: Final = re.compile(r"&([^-]*)-")


def decoded(name: str) -> str:
    """Raises :class:`ValueError` for a name that is not written so."""
    return _SHIFTED.sub(_letters, name)


def _letters(found: re.Match[str]) -> str:
    packed = found[1].replace(",", "/")
    return b64decode(packed + "=" * (-len(packed) % 4), validate=True).decode("utf-16-be") if packed else "&"
