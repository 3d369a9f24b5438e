"""The newest output of a terminal, as raw bytes. A position counts from the terminal's first byte, so it stays right
when old output is dropped. Pure."""

from __future__ import annotations

from typing import Final

KEPT_BYTES: Final = 256 * 1024
"""The newest output of one terminal, shown again to a browser that comes back. Beyond: the oldest is dropped."""
_LOOKS_FOR_A_LINE: Final = 8 * 1024


class Tape:
    """The kept output lies between ``begins`` and ``ends``. ``ends`` only grows; output before ``begins`` was
    dropped."""

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
        """The output from ``place`` on, or from ``begins`` if ``place`` was already dropped."""
        begin = max(0, place - self.begins)
        return bytes(self._kept[begin : begin + at_most])

    def room(self, place: int) -> int:
        """How many bytes can be added before a reader at ``place`` would miss some."""
        return max(0, self._limit - (self.ends - place))

    def start(self) -> int:
        """Where a new reader begins: at the start of a line, since the dropped output may have ended within a character
        or an escape sequence."""
        if self.begins == 0:
            return 0
        found = self._kept.find(b"\n", 0, _LOOKS_FOR_A_LINE)
        return self.begins + found + 1
