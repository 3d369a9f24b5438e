"""How a stranger's bytes are served: what a browser may show inline, and how a file name is written in a header.

Inline only what can't run: raster images, audio, video and plain text, and only when the first bytes match the type.
All else is an attachment under ``Content-Security-Policy: sandbox``. Names are sent in both forms of RFC 6266.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

SNIFF_BYTES: Final = 32
_FALLBACK: Final = "application/octet-stream"

_SIGNATURES: Final[dict[str, tuple[bytes, ...]]] = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/bmp": (b"BM",),
    "audio/mpeg": (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"),
    "audio/ogg": (b"OggS",),
    "audio/flac": (b"fLaC",),
    "video/webm": (b"\x1aE\xdf\xa3",),
    "video/ogg": (b"OggS",),
}
_RIFF: Final = {"image/webp": b"WEBP", "audio/wav": b"WAVE", "audio/x-wav": b"WAVE"}
_FTYP: Final = frozenset({"video/mp4", "audio/mp4", "image/avif", "video/quicktime"})

_TYPE: Final = re.compile(r"[a-z0-9!#$&^_.+-]{1,127}/[a-z0-9!#$&^_.+-]{1,127}")
_HARMLESS_TEXT: Final = frozenset({"text/csv", "text/calendar", "text/markdown", "text/vcard"})
_RUNNABLE: Final = re.compile(r"script|html|xml|xsl|svg|css|wasm|flash|^multipart/|^message/|^x-|^model/")


def may_show_inline(mime: str, head: bytes) -> bool:
    """Whether a browser may show this in our origin. ``head`` has at least the first :data:`SNIFF_BYTES` bytes."""
    kind = media_type(mime)
    if kind == "text/plain":
        return b"\0" not in head
    if kind in _RIFF:
        return head[:4] == b"RIFF" and head[8:12] == _RIFF[kind]
    if kind in _FTYP:
        return head[4:8] == b"ftyp"
    return head.startswith(_SIGNATURES.get(kind, ()))


def media_type(mime: str) -> str:
    return mime.partition(";")[0].strip().lower()


def content_type(mime: str, *, inline: bool) -> str:
    """The type to declare. A file that is not shown inline keeps its own type only if no browser could run it.

    Being an attachment is not enough: if an attacker put a tag into a page of ours, it could load a script or a style
    sheet from here, and ``script-src 'self'`` would allow it. So no file is ever declared to be one.
    """
    kind = media_type(mime)
    if kind == "text/plain":
        return "text/plain; charset=utf-8"
    if not _TYPE.fullmatch(kind):
        return _FALLBACK
    return kind if inline or not _could_run(kind) else _FALLBACK


def _could_run(kind: str) -> bool:
    if kind.startswith("text/"):
        return kind not in _HARMLESS_TEXT
    return bool(_RUNNABLE.search(kind)) and not kind.startswith("application/vnd.openxmlformats-")


def content_disposition(name: str, *, inline: bool) -> str:
    """``attachment; filename="resume.pdf"; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf``."""
    plain = "".join(
        symbol if symbol.isascii() and symbol.isprintable() and symbol not in '"\\%' else "_" for symbol in name
    )
    kind = "inline" if inline else "attachment"
    encoded = quote(name.encode("utf-8", "replace"), safe="")
    return f"{kind}; filename=\"{plain or 'file'}\"; filename*=UTF-8''{encoded}"
