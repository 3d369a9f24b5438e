"""A socket's bytes by one call of the system each: what a small answer, and the wait for the next request, need.

Trio's stream gives other tasks a turn with each call, and asks the system before it waits. Both are right in general
and cost more than the call itself where an answer of one piece leaves, and where the next request has not come yet.
Everything else, and every other kind of stream, goes by the stream. Owns no socket: a closed one takes nothing.
"""

from __future__ import annotations

import os
import select
import sys

import trio


class Direct:
    """For one connection, on which one task reads and one writes."""

    __slots__ = ("_socket",)

    def __init__(self, socket: trio.socket.SocketType) -> None:
        self._socket = socket

    @classmethod
    def of(cls, stream: trio.abc.Stream) -> Direct | None:
        """``None`` for what is no plain socket, and where sockets are no files."""
        if type(stream) is not trio.SocketStream or sys.platform == "win32":
            return None
        return cls(stream.socket)

    def send(self, data: bytes) -> int:
        """How many bytes the system took now. A fault is none of them: whoever sends the rest by the stream hears of
        it."""
        descriptor = self._socket.fileno()
        if descriptor < 0:
            return 0
        try:
            return os.write(descriptor, data)
        except OSError:
            return 0

    def fileno(self) -> int:
        """For the system to send a file. Negative once the socket is closed."""
        return self._socket.fileno()

    def is_readable(self) -> bool:
        """Whether bytes have come, or the end, that nobody has received yet."""
        descriptor = self._socket.fileno()
        if descriptor < 0:
            return False
        look = select.poll()
        look.register(descriptor, select.POLLIN)
        return bool(look.poll(0))

    async def writable(self) -> None:
        """Return once the system takes more. Raises ``trio.ClosedResourceError``."""
        await trio.lowlevel.wait_writable(self._socket)

    async def receive(self, most: int) -> bytes:
        """Wait for bytes; empty at the end. Raises ``trio.BrokenResourceError`` and ``trio.ClosedResourceError``."""
        while True:
            await trio.lowlevel.wait_readable(self._socket)
            try:
                return os.read(self._socket.fileno(), most)
            except BlockingIOError:
                continue
            except OSError as error:
                raise trio.BrokenResourceError from error
