"""The last that a terminal has said, by its place in all that it ever said. Bytes, whatever they are. Pure."""

from __future__ import annotations

from typing import Final

KEPT_BYTES: Final = 256 * 1024
"""The newest output of one terminal, which a browser that comes back is shown again. Beyond: the oldest is dropped."""
_LOOKS_FOR_A_LINE: Final = 8 * 1024


class Tape:
    """``ends`` only grows; what stands before ``begins`` is gone."""

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self.begins = 0
        self._limit = kept_bytes
        self._kept = bytearray()

    @property
    def ends(self) -> int:
        return self.begins + len(self._kept)

    def add(self, data: bytes) -> None:
        self._kept += data
        excess = len(self._kept) - self._limit
        if excess > 0:
            del self._kept[:excess]
            self.begins += excess

    def after(self, place: int, at_most: int) -> bytes:
        """What was said from ``place`` on, or from where the tape begins by now."""
        begin = max(0, place - self.begins)
        return bytes(self._kept[begin : begin + at_most])

    def room(self, place: int) -> int:
        """How much can be added before the one who is at ``place`` would miss something."""
        return max(0, self._limit - (self.ends - place))

    def start(self) -> int:
        """Where one begins who has seen nothing: at the start of a line, for what was dropped may have ended within a
        character or a command to the terminal."""
        if self.begins == 0:
            return 0
        found = self._kept.find(b"\n", 0, _LOOKS_FOR_A_LINE)
        return self.begins + found + 1
