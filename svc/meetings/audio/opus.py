"""The duration of Opus packets (RFC 6716), from their first bytes. Nothing is decoded.

Theory (section 3.1). The first byte, TOC, has a configuration in its upper five bits, which gives the length of a
frame, a bit for stereo, and a code in the lowest two for the number of frames: one; two; or the number in the second
byte. A packet holds at most 120 ms.
"""

from __future__ import annotations

from typing import Final

DECODED_RATE: Final = 48_000
"""Opus counts time in samples of this rate, whatever rate was recorded."""
MAX_PACKET_MS: Final = 120.0
DTX_BYTES: Final = 2
"""A packet of at most this many bytes means silence."""

_SILK_MS: Final = (10.0, 20.0, 40.0, 60.0)
_HYBRID_MS: Final = (10.0, 20.0)
_CELT_MS: Final = (2.5, 5.0, 10.0, 20.0)
_FIRST_HYBRID: Final = 12
_FIRST_CELT: Final = 16


class NotOpus(ValueError):
    """These bytes are not an Opus packet."""


def packet_samples(packet: bytes) -> int:
    """How many samples at 48 kHz the packet decodes to. Raises :class:`NotOpus`."""
    if not packet:
        raise NotOpus("an Opus packet has at least one byte")
    milliseconds = _frame_ms(packet[0] >> 3) * _frames(packet)
    if not 0 < milliseconds <= MAX_PACKET_MS:
        raise NotOpus("an Opus packet lasts at most 120 ms")
    return round(milliseconds * DECODED_RATE / 1_000)


def is_stereo(packet: bytes) -> bool:
    return bool(packet[0] & 0x04)


def _frame_ms(configuration: int) -> float:
    if configuration < _FIRST_HYBRID:
        return _SILK_MS[configuration % 4]
    if configuration < _FIRST_CELT:
        return _HYBRID_MS[configuration % 2]
    return _CELT_MS[configuration % 4]


def _frames(packet: bytes) -> int:
    code = packet[0] & 0x03
    if code < 3:
        return 1 if code == 0 else 2
    if len(packet) < 2:
        raise NotOpus("the packet ends before its count of frames")
    return packet[1] & 0x3F
