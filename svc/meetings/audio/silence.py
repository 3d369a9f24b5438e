"""Cuts a recording at moments of silence, for recognisers that take files, not streams.

A stretch is loud where its samples swing more than the noise of the room, which is estimated from the quietest
stretches of the last half minute. Only every eighth sample is read: that is enough, and very cheap.
"""

from __future__ import annotations

import sys
from array import array
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from svc.meetings.audio.wav import SAMPLE_BYTES

STRETCH_S: Final = 0.05
QUIET_S: Final = 0.45
"""After this much silence a sentence may end."""
MIN_PIECE_S: Final = 4.0
MAX_PIECE_S: Final = 25.0
"""A piece of sound that is sent at once. Beyond: it is cut in the middle of a sentence."""
LEAST_SWING: Final = 260
"""Of 32,768. A smaller swing is never speech, however quiet the room."""

_EACH: Final = 8
_REMEMBERED: Final = round(30 / STRETCH_S)
_ABOVE_NOISE: Final = 3.0


@dataclass(frozen=True, kw_only=True)
class Piece:
    """``pcm`` begins at ``start`` seconds. ``is_quiet``: it has no speech."""

    pcm: bytes
    start: float
    is_quiet: bool


@dataclass(kw_only=True)
class Cutter:
    """Takes samples as they come and returns pieces. Holds one piece at most."""

    rate: int
    _held: bytearray = field(default_factory=bytearray)
    _looked_at: int = 0  # bytes of the held sound that were checked
    _start_bytes: int = 0
    _quiet_s: float = 0.0
    _loud: bool = False
    _swings: deque[int] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    def feed(self, pcm: bytes) -> list[Piece]:
        self._held += pcm
        pieces = []
        stretch = round(self.rate * STRETCH_S) * SAMPLE_BYTES
        while self._looked_at + stretch <= len(self._held):
            self._look(self._held[self._looked_at : self._looked_at + stretch])
            self._looked_at += stretch
            if self._may_cut():
                pieces.append(self._cut(self._looked_at))
        return pieces

    def finish(self) -> list[Piece]:
        whole = len(self._held) - len(self._held) % SAMPLE_BYTES
        return [self._cut(whole)] if whole else []

    def _look(self, stretch: bytes | bytearray) -> None:
        swing = _swing(stretch)
        self._swings.append(swing)
        if swing > max(LEAST_SWING, _ABOVE_NOISE * min(self._swings)) or swing > LEAST_SWING * 8:
            self._loud, self._quiet_s = True, 0.0
        else:
            self._quiet_s += STRETCH_S

    def _may_cut(self) -> bool:
        held_s = self._looked_at / (self.rate * SAMPLE_BYTES)
        return held_s >= MAX_PIECE_S or (held_s >= MIN_PIECE_S and self._quiet_s >= QUIET_S)

    def _cut(self, length: int) -> Piece:
        piece = Piece(
            pcm=bytes(self._held[:length]),
            start=self._start_bytes / (self.rate * SAMPLE_BYTES),
            is_quiet=not self._loud,
        )
        del self._held[:length]
        self._start_bytes += length
        self._looked_at, self._quiet_s, self._loud = 0, 0.0, False
        return piece


def _swing(stretch: bytes | bytearray) -> int:
    samples = array("h", bytes(stretch))
    if sys.byteorder == "big":
        samples.byteswap()
    some = samples[::_EACH]
    return max(some) - min(some)
