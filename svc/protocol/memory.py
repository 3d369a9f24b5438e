"""Connections within the process: one end receives what the other sends, with a bounded buffer, as through a socket."""

from __future__ import annotations

from typing import Final

import trio

_BUFFERED: Final = 16


def stream_pair() -> tuple[trio.abc.Stream, trio.abc.Stream]:
    """The two ends of one connection."""
    to_right, at_right = trio.open_memory_channel[bytes](_BUFFERED)
    to_left, at_left = trio.open_memory_channel[bytes](_BUFFERED)
    return _End(to_right, at_left), _End(to_left, at_right)


class _End(trio.abc.Stream):
    def __init__(self, out: trio.MemorySendChannel[bytes], arriving: trio.MemoryReceiveChannel[bytes]) -> None:
        self._out = out
        self._arriving = arriving
        self._rest = b""

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if data:
            await self._out.send(bytes(data))
        else:
            await trio.lowlevel.checkpoint()

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """The next bytes; empty at the end."""
        if not self._rest:
            try:
                self._rest = await self._arriving.receive()
            except trio.EndOfChannel:
                return b""
        most = len(self._rest) if max_bytes is None else max_bytes
        taken, self._rest = self._rest[:most], self._rest[most:]
        return taken

    async def aclose(self) -> None:
        self._out.close()
        self._arriving.close()
        await trio.lowlevel.checkpoint()
