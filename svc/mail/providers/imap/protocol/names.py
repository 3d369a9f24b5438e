"""Names of folders: modified UTF-7 (RFC 3501, 5.1.3), or UTF-8 if we asked the server for it (RFC 6855).

A server gets a name back as exactly the bytes that it listed, since some encode wrongly. Names are decoded only to show
them, and encoded only for new folders.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import Final

_SHIFTED: Final = re.compile(r"&([^-]*)-")
_TO_SHIFT: Final = re.compile(r"&|[^\x20-\x7e]+")
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def shown_name(name: bytes, *, utf8: bool = False) -> str:
    """The name to show. A name that can't be decoded stays as it came; control characters are removed."""
    try:
        if utf8 or any(byte > 0x7E for byte in name):
            text = name.decode("utf-8")
        else:
            text = _SHIFTED.sub(lambda found: _unshifted(found[1]), name.decode("ascii"))
    except (UnicodeDecodeError, Base64Error):
        text = name.decode("latin-1")
    return _CONTROLS.sub("", text)


def written_name(name: str) -> bytes:
    """The name of a new folder, in modified UTF-7."""
    return _TO_SHIFT.sub(lambda found: _shifted(found[0]), name).encode("ascii")


def _unshifted(text: str) -> str:
    if not text:
        return "&"
    packed = text.replace(",", "/")
    return b64decode(packed + "=" * (-len(packed) % 4), validate=True).decode("utf-16-be")


def _shifted(text: str) -> str:
    if text == "&":
        return "&-"
    packed = b64encode(text.encode("utf-16-be", "surrogatepass")).decode().rstrip("=").replace("/", ",")
    return f"&{packed}-"
