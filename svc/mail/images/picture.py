"""Tells the kind of a picture from its first bytes. Nothing else is trusted, because a server may declare any type.

Raster images only: SVG is a document that can hold scripts and links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_AVIF_BRANDS: Final = frozenset({b"avif", b"avis"})
_MAX_FTYP_BYTES: Final = 256
_BMP_HEADERS: Final = frozenset({12, 40, 52, 56, 64, 108, 124})
_MAX_ICONS: Final = 256


@dataclass(frozen=True, kw_only=True)
class Picture:
    mime: str
    data: bytes


def kind_of(data: bytes) -> str | None:
    """The media type of a picture that a browser may get; ``None`` for anything else."""
    for signature, mime in _SIGNATURES:
        if data.startswith(signature):
            return mime
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if _is_avif(data):
        return "image/avif"
    if _is_bmp(data):
        return "image/bmp"
    return "image/x-icon" if _is_icon(data) else None


def _is_avif(data: bytes) -> bool:
    """Whether it is ISO base media: a ``ftyp`` box whose major brand or a compatible brand names the format."""
    if data[4:8] != b"ftyp":
        return False
    box = data[: min(int.from_bytes(data[:4]), _MAX_FTYP_BYTES)]
    return any(box[at : at + 4] in _AVIF_BRANDS for at in (8, *range(16, len(box), 4)))


def _is_bmp(data: bytes) -> bool:
    """Whether it is a BMP. Any text can begin with its two letters, so the header's length is checked, too."""
    return data[:2] == b"BM" and int.from_bytes(data[14:18], "little") in _BMP_HEADERS


def _is_icon(data: bytes) -> bool:
    count = int.from_bytes(data[4:6], "little")
    return data[:4] == b"\0\0\1\0" and 0 < count <= _MAX_ICONS and len(data) > 6 + 16 * count
