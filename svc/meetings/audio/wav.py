"""The header of a WAV file with 16-bit samples of one channel; the raw samples follow it."""

from __future__ import annotations

import struct
from typing import Final

SAMPLE_BYTES: Final = 2
_HEAD: Final = struct.Struct("<4sI4s4sIHHIIHH4sI")
_PCM: Final = 1


def wav_head(*, rate: int, data_bytes: int) -> bytes:
    return _HEAD.pack(
        b"RIFF",
        _HEAD.size - 8 + data_bytes,
        b"WAVE",
        b"fmt ",
        16,
        _PCM,
        1,
        rate,
        rate * SAMPLE_BYTES,
        SAMPLE_BYTES,
        8 * SAMPLE_BYTES,
        b"data",
        data_bytes,
    )


def wav(pcm: bytes, *, rate: int) -> bytes:
    """A whole file."""
    return wav_head(rate=rate, data_bytes=len(pcm)) + pcm
