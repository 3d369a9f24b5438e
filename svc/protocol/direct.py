"""Sends and receives on a socket with one system call each, for a small answer and for the wait for the next request.

Trio's stream lets other tasks run with each call, and tries the system call before it waits. Both are right in general,
but cost more than the call itself when an answer is sent in one piece, or when the next request has not arrived yet.
Everything else, and every other kind of stream, uses the stream. Owns no socket: a closed one accepts nothing.
"""

from __future__ import annotations

import os
import select
import sys

import trio


def is_readable(socket: trio.socket.SocketType) -> bool:
    """Whether something has arrived: bytes, the end of the stream, or a connection at a listener."""
    descriptor = socket.fileno()
    if descriptor < 0:
        return False
    look = select.poll()
    look.register(descriptor, select.POLLIN)
    return bool(look.poll(0))


def has_come(stream: trio.abc.Stream) -> bool:
    """Whether bytes, or the end of the stream, have arrived at its socket and are not yet received. No, if the stream
    has no socket, and on systems where sockets are no files."""
    socket = getattr(stream, "socket", None)
    return socket is not None and sys.platform != "win32" and is_readable(socket)


class Direct:
    """For one connection, on which one task reads and one task writes."""

    __slots__ = ("_socket",)

    def __init__(self, socket: trio.socket.SocketType) -> None:
        self._socket = socket

    @classmethod
    def of(cls, stream: trio.abc.Stream) -> Direct | None:
        """``None`` if the stream is no plain socket, and on systems where sockets are no files."""
        if type(stream) is not trio.SocketStream or sys.platform == "win32":
            return None
        return cls(stream.socket)

    def send(self, data: bytes) -> int:
        """The number of bytes that the system took now. An error counts as 0: the caller meets it when it sends the
        rest by the stream."""
        descriptor = self._socket.fileno()
        if descriptor < 0:
            return 0
        try:
            return os.write(descriptor, data)
        except OSError:
            return 0

    def fileno(self) -> int:
        """The descriptor, for the system to send a file to. Negative once the socket is closed."""
        return self._socket.fileno()

    async def writable(self) -> None:
        """Return once the system accepts more. Raises ``trio.ClosedResourceError``."""
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
