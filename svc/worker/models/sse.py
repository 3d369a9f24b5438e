"""Parses server-sent events from bytes (WHATWG HTML, 9.2.6), sans-IO: cut anywhere, with any line ends, and bounded.

Only ``data`` is kept: both vendors repeat an event's name in it. Bytes that are no UTF-8 become replacement characters.
"""

from __future__ import annotations

from typing import Final

MAX_EVENT_BYTES: Final = 4 << 20
"""One event of a model's stream. Beyond: the answer is given up."""


class TooLong(Exception):
    """An event is longer than any event of a vendor."""


class Events:
    """:meth:`feed` returns the data of each event that is complete with this piece."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._after_cr = False

    def feed(self, piece: bytes) -> list[str]:
        """Raises :class:`TooLong`."""
        if not piece:
            return []
        if self._after_cr:
            piece = piece.removeprefix(b"\n")
        self._after_cr = piece.endswith(b"\r")
        ended: list[str] = []
        *lines, rest = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            self._grow(line)
            self._line(bytes(self._rest), ended)
            self._rest.clear()
        self._grow(rest)
        return ended

    def _grow(self, part: bytes) -> None:
        if len(self._rest) + self._size + len(part) > MAX_EVENT_BYTES:
            raise TooLong
        self._rest += part

    def _line(self, line: bytes, ended: list[str]) -> None:
        if not line:
            if self._data:
                ended.append(b"\n".join(self._data).decode("utf-8", "replace"))
            self._data, self._size = [], 0
        elif line.startswith(b"data"):
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
                self._size += len(value)
