"""The bytes that arrived on a connection and were not consumed yet. All receiving is done here.

Owns the buffer of a stream. Heads, bodies and a WebSocket that takes over all read from it, so that nothing is lost
between them. It never holds more than one receive beyond what its reader waits for, and knows no deadline.
"""

from __future__ import annotations

import trio

from svc.protocol.direct import Direct
from svc.protocol.limits import Limits
from svc.protocol.strict import HEAD_END, check_unfinished_head, head_too_large

_CRLF = b"\r\n"


class PeerGone(Exception):
    """The other end does not read any more: the only thing left is to close."""


class WireInput:
    def __init__(self, stream: trio.abc.Stream, limits: Limits, *, direct: Direct | None = None) -> None:
        self.buffer = bytearray()
        self._direct = direct
        self._stream = stream
        self._limits = limits
        self._seen = 0  # bytes of the buffer that were searched and hold no end of a head
        self._at_start = True

    async def receive(self, most: int | None = None) -> int:
        """Wait for more bytes. Returns how many arrived, 0 at the end of the stream or after an error.

        Without ``most``, a head is waited for. Usually nothing has arrived yet, so it first waits until the socket is
        readable, and then makes one system call.
        """
        try:
            if most is None and self._direct is not None:
                data: bytes | bytearray = await self._direct.receive(self._limits.read_bytes)
            else:
                data = await self._stream.receive_some(most or self._limits.read_bytes)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return 0
        self.buffer += data
        return len(data)

    async def receive_apart(self, most: int) -> bytes:
        """Wait for more bytes, at most ``most``, and hand them over without a copy in the buffer: they follow what it
        holds. Empty at the end of the stream or after an error."""
        try:
            return bytes(await self._stream.receive_some(most))  # bytes already, from a socket
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return b""

    def take_head(self) -> bytes | None:
        """A whole head without its final empty line, or ``None`` while it is incomplete."""
        buffer = self.buffer
        if self._at_start and buffer[:2] == _CRLF:  # RFC 9112, 2.2: one empty line before a request is accepted
            del buffer[:2]
            self._at_start = False
        end = buffer.find(HEAD_END, max(0, self._seen - 3))
        if end == -1:
            check_unfinished_head(buffer, seen=self._seen, limits=self._limits)
            self._seen = len(buffer)
            return None
        if end + len(HEAD_END) > self._limits.head_bytes:
            check_unfinished_head(buffer[:end], seen=0, limits=self._limits)
            raise head_too_large(self._limits)
        raw = bytes(buffer[:end])
        del buffer[: end + len(HEAD_END)]
        self._seen = 0
        self._at_start = True
        return raw

    def take(self, size: int) -> bytes:
        """At most ``size`` bytes of what has arrived."""
        if size >= len(self.buffer):
            data = bytes(self.buffer)
            self.buffer.clear()
            return data
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data
