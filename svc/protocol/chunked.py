"""The chunked transfer coding (RFC 9112, 7.1), decoded strictly.

A chunk is ``size *(;name[=value]) CRLF data CRLF``; a chunk of size zero ends the data, then trailer fields and an
empty line end the body. h11 accepts a lone CR or LF inside an extension, and white space after a size. Here every line
ends in CRLF and holds nothing else that could be taken for a line end. Extensions and trailers are read, limited in
size and dropped.

Owns the decoder's state. It never waits, and never keeps data that was not asked for.
"""

from __future__ import annotations

import re
from typing import Final

from svc.errors import Invalid

CHUNK_LINE_BYTES: Final = 256
"""The line of one chunk: size and extensions. Beyond: 400 `invalid`; the connection closes."""
TRAILER_BYTES: Final = 4096
"""All trailer lines of a chunked body together. Beyond: 400 `invalid`; the connection closes."""
EXTENSION_BYTES: Final = 16 * 1024
"""All chunk extensions of a body together. Without this limit, a client could send for ever while its body does not
grow. Beyond: 400 `invalid`; the connection closes."""
CHUNKS_AT_ONCE: Final = 1_000
"""Chunks that are decoded before other tasks have their turn: some milliseconds."""

_TOKEN: Final = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_QUOTED: Final = rb'"(?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"'
_EXTENSION: Final = rb";[\t ]*" + _TOKEN + rb"(?:[\t ]*=[\t ]*(?:" + _TOKEN + rb"|" + _QUOTED + rb"))?"
_SIZE_LINE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})(?:" + _EXTENSION + rb")*")
_TRAILER_LINE: Final = re.compile(_TOKEN + rb":[\t\x20-\x7e\x80-\xff]*")


class ChunkedDecoder:
    """Takes decoded data out of a buffer that the caller fills."""

    def __init__(self) -> None:
        self.ended = False
        self._left = 0  # bytes left of the current chunk
        self._needs_crlf = False  # after the chunk's data
        self._in_trailer = False
        self._trailer_left = TRAILER_BYTES
        self._extension_left = EXTENSION_BYTES

    def take(self, buffer: bytearray) -> bytes:
        """The data in ``buffer``, of at most ``CHUNKS_AT_ONCE`` chunks; empty when more bytes are needed or the body
        has ended (see ``ended``)."""
        parts: list[bytes] = []
        while buffer and not self.ended and len(parts) < CHUNKS_AT_ONCE:
            if self._left:
                parts.append(self._take_data(buffer))
            elif self._needs_crlf:
                if not self._take_crlf(buffer):
                    break
            elif not self._take_line(buffer):
                break
        return b"".join(parts)

    def _take_data(self, buffer: bytearray) -> bytes:
        data = bytes(buffer[: self._left])
        del buffer[: len(data)]
        self._left -= len(data)
        self._needs_crlf = self._left == 0
        return data

    def _take_crlf(self, buffer: bytearray) -> bool:
        if buffer[:2] == b"\r\n":
            del buffer[:2]
            self._needs_crlf = False
            return True
        if buffer == b"\r":
            return False
        raise Invalid("A chunk does not end where its size says.")

    def _take_line(self, buffer: bytearray) -> bool:
        """Reads a size line or a trailer line. False while it is incomplete."""
        limit = self._trailer_left if self._in_trailer else CHUNK_LINE_BYTES
        end = buffer.find(b"\r\n", 0, limit + 2)
        if end == -1:
            if len(buffer) > limit + 1 or b"\n" in buffer[: limit + 2]:
                raise Invalid("A line of the chunked body is too long or has a stray line break.")
            return False
        line = bytes(buffer[:end])
        del buffer[: end + 2]
        if self._in_trailer:
            self._read_trailer(line)
        else:
            self._read_size(line)
        return True

    def _read_size(self, line: bytes) -> None:
        match = _SIZE_LINE.fullmatch(line)
        if match is None:
            raise Invalid("A chunk size is malformed.")
        self._extension_left -= len(line) - len(match[1])
        if self._extension_left < 0:
            raise Invalid("The chunked body has too many extensions.")
        self._left = int(match[1], 16)
        self._in_trailer = self._left == 0

    def _read_trailer(self, line: bytes) -> None:
        if not line:
            self.ended = True
            return
        self._trailer_left -= len(line) + 2  # limits the next line; below zero nothing more is accepted
        if not _TRAILER_LINE.fullmatch(line):
            raise Invalid("A trailer field of the chunked body is malformed.")
