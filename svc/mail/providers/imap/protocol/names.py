"""Names of folders: modified UTF-7 (RFC 3501, 5.1.3), or UTF-8 if we asked the server for it (RFC 6855).

A server gets a name back as exactly the bytes that it listed, since some encode wrongly. Names are decoded only to show
them, and encoded only for new folders.
"""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Final

from svc.formats.mailbox import utf7

_TO_SHIFT: Final = re.compile(r"&|[^\x20-\x7e]+")
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def shown_name(name: bytes, *, utf8: bool = False) -> str:
    """The name to show. A name that can't be decoded stays as it came; control characters are removed."""
    try:
        is_utf8 = utf8 or any(byte > 0x7E for byte in name)
        text = name.decode("utf-8") if is_utf8 else utf7.decoded(name.decode("ascii"))
    except ValueError:
        text = name.decode("latin-1")
    return _CONTROLS.sub("", text)


def written_name(name: str) -> bytes:
    """The name of a new folder, in modified UTF-7."""
    return _TO_SHIFT.sub(lambda found: _shifted(found[0]), name).encode("ascii")


def _shifted(text: str) -> str:
    if text == "&":
        return "&-"
    packed = b64encode(text.encode("utf-16-be", "surrogatepass")).decode().rstrip("=").replace("/", ",")
    return f"&{packed}-"
