"""Writes Opus packets as an Ogg file (RFC 3533, RFC 7845). Sans-IO: packets go in, the bytes of pages come out.

Theory. An Ogg stream is a sequence of pages. A page has a header with its number, a checksum and a table of lacing
values: a packet is a run of 255s and one value below it, so that a reader finds where packets end. The granule position
of a page is the number of samples, at 48 kHz, up to the end of the last packet that ends on it. An Opus stream begins
with a page for the packet ``OpusHead`` alone and one for ``OpusTags``; the last page is marked as the last.

Here every page has whole packets only. A packet longer than a page can hold (65,025 bytes) is refused: no encoder makes
one.
"""

from __future__ import annotations

import struct
import zlib
from typing import Final

from svc.meetings.audio.opus import is_stereo, packet_samples

PRE_SKIP: Final = 312
"""Samples that a decoder drops at the beginning: libopus needs them to warm up, and all its encoders give this
number."""
MAX_PACKET_BYTES: Final = 255 * 254
PAGE_SAMPLES: Final = 48_000
"""A page holds about a second, so that players can seek by pages."""

_CONTINUED_FIRST: Final = 0x02
_LAST: Final = 0x04
_MAX_LACES: Final = 255
_HEADER: Final = struct.Struct("<4sBBqIIIB")
_CHECKSUM_AT: Final = 22
_VENDOR: Final = b"svc"
_MIRRORED: Final = bytes(int(f"{value:08b}"[::-1], 2) for value in range(256))


class OggOpusWriter:
    """One stream. ``serial`` distinguishes it from others; ``rate`` is the recorded rate, a hint for players."""

    def __init__(self, *, serial: int, rate: int) -> None:
        self._serial = serial
        self._rate = rate
        self._number = 0
        self._samples = 0
        self._packets: list[bytes] = []
        self._laces = 0
        self._since_page = 0
        self._has_begun = False

    def write(self, packet: bytes) -> bytes:
        """Add a packet; returns the pages that it completes. Raises :class:`NotOpus`, ``ValueError``."""
        if len(packet) > MAX_PACKET_BYTES:
            raise ValueError("the packet is longer than a page of Ogg")
        samples = packet_samples(packet)
        pages = b""
        if not self._has_begun:
            self._has_begun = True
            pages = self._heads(channels=2 if is_stereo(packet) else 1)
        laces = len(packet) // 255 + 1
        if self._laces + laces > _MAX_LACES or self._since_page >= PAGE_SAMPLES:
            pages += self._page()
        self._packets.append(packet)
        self._laces += laces
        self._samples += samples
        self._since_page += samples
        return pages

    def finish(self) -> bytes:
        """The last page."""
        pages = b"" if self._has_begun else self._heads(channels=1)
        return pages + self._page(flags=_LAST)

    def _heads(self, *, channels: int) -> bytes:
        head = struct.pack("<8sBBHIhB", b"OpusHead", 1, channels, PRE_SKIP, self._rate, 0, 0)
        tags = struct.pack("<8sI", b"OpusTags", len(_VENDOR)) + _VENDOR + struct.pack("<I", 0)
        return self._encoded([head], flags=_CONTINUED_FIRST, granule=0) + self._encoded([tags], flags=0, granule=0)

    def _page(self, *, flags: int = 0) -> bytes:
        page = self._encoded(self._packets, flags=flags, granule=self._samples)
        self._packets, self._laces, self._since_page = [], 0, 0
        return page

    def _encoded(self, packets: list[bytes], *, flags: int, granule: int) -> bytes:
        laces = b"".join(b"\xff" * (len(packet) // 255) + bytes((len(packet) % 255,)) for packet in packets)
        header = _HEADER.pack(b"OggS", 0, flags, granule, self._serial, self._number, 0, len(laces))
        self._number += 1
        page = bytearray(b"".join((header, laces, *packets)))
        page[_CHECKSUM_AT : _CHECKSUM_AT + 4] = struct.pack("<I", checksum(page))
        return bytes(page)


def checksum(page: bytes | bytearray) -> int:
    """Ogg's CRC-32: that of zlib with every byte and the result bit-reversed, and nothing inverted before or after."""
    value = zlib.crc32(page.translate(_MIRRORED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int(f"{value:032b}"[::-1], 2)
