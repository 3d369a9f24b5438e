"""Names of folders: modified UTF-7 (RFC 3501, 5.1.3), or UTF-8 if we asked the server for it (RFC 6855).

A server gets a name back as exactly the bytes that it listed, since some encode wrongly. Names are decoded only to show
them, and encoded only for new folders.
"""

from __future__ import annotations

from svc.formats.mailbox import utf7


def shown_name(name: bytes, *, utf8: bool = False) -> str:
    """The name to show. A name that can't be decoded stays as it came; control characters are removed."""
    try:
        is_utf8 = utf8 or any(byte > 0x7E for byte in name)
        text = name.decode("utf-8") if is_utf8 else utf7.decoded(name.decode("ascii"))
    except ValueError:
        text = name.decode("latin-1")
    return utf7.without_controls(text)


def written_name(name: str) -> bytes:
    """The name of a new folder, in modified UTF-7."""
    return utf7.encoded(name).encode("ascii")
