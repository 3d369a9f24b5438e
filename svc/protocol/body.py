"""A request's body, which a handler reads off the connection.

Owns the framing (length or chunks), the pace that a client must keep, and ``100 Continue``: it is sent when the body is
first read, so that a refusal by declared length comes before it. It never reads ahead of its handler.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Final

import trio

from svc.errors import Invalid, Refusal
from svc.protocol.chunked import ChunkedDecoder
from svc.protocol.limits import Limits
from svc.protocol.pace import Pace
from svc.protocol.wire_input import PeerGone, WireInput

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class StreamBody:
    """One request's body. It is its own iterator, since a body is read once. ``length`` is ``None`` when chunked."""

    def __init__(
        self,
        wire: WireInput,
        *,
        length: int | None,
        send_continue: Callable[[bytes], Awaitable[None]] | None,
        limits: Limits,
    ) -> None:
        self.declared_length = length
        self.ended = length == 0
        self._wire = wire
        self._left = length or 0
        self._decoder = ChunkedDecoder() if length is None else None
        self._send_continue = send_continue
        self._limits = limits
        self._pace = Pace(limits)
        self._begun = False
        self._spoiled = False  # malformed, late or too large: the start of the next request is unknown

    def chunks(self) -> AsyncIterator[bytes]:
        return self

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        self._begun = True
        try:
            await self._invite()
            while not self.ended:
                data = self._take()
                if data:
                    if self._wire.buffer and not self.ended:
                        await trio.lowlevel.checkpoint()  # very many small chunks must not block the other tasks
                    return data
                if not self.ended and (data := await self._receive()):
                    return data
        except Refusal:
            self._spoiled = True
            raise
        raise StopAsyncIteration

    @property
    def worth_finishing(self) -> bool:
        """Whether the unread rest of the body is small and sure to arrive, so that the connection can be kept."""
        if self._spoiled:
            return False
        if self.ended:
            return True
        return self._send_continue is None and self._left <= self._limits.unread_body_bytes

    async def check_untouched(self) -> None:
        """Read a chunked body that its handler did not touch. Raises :class:`Invalid` if it is malformed.

        Only a chunked body can be malformed: with a length, the start of the next request is known. The caller limits
        the wait.
        """
        waits_for_us = self._send_continue is not None and not self._wire.buffer
        if self._decoder is not None and not self._begun and not waits_for_us:
            await self._read_away()

    async def skip(self) -> bool:
        """Read and drop the rest. False if it is too large, malformed or late."""
        try:
            await self._read_away()
        except Refusal:
            return False
        return self.ended and not self._spoiled

    async def _read_away(self) -> None:
        size = 0
        async for data in self:
            size += len(data)
            if size > self._limits.unread_body_bytes:
                self._spoiled = True
                return

    async def _invite(self) -> None:
        if self._send_continue is None:
            return
        send, self._send_continue = self._send_continue, None
        if self._wire.buffer:
            return  # a body that has already arrived needs no 100 Continue
        try:
            await send(CONTINUE)
        except PeerGone as error:
            raise Invalid("The client is gone.") from error

    def _take(self) -> bytes:
        if self._decoder is not None:
            data = self._decoder.take(self._wire.buffer)
            self.ended = self._decoder.ended
            return data
        data = self._wire.take(self._left)
        self._left -= len(data)
        self.ended = self._left == 0
        return data

    async def _receive(self) -> bytes:
        """Wait for more data: those of a body with a length are returned at once, those of chunks are in the buffer."""
        most = self._limits.body_read_bytes
        if self._decoder is None:
            most = min(most, self._left)
        data = await self._pace.keep(partial(self._wire.receive_apart, most), len)
        if not data:
            raise Invalid("The body ended before its declared end.")
        if self._decoder is not None:
            self._wire.buffer += data
            return b""
        self._left -= len(data)
        self.ended = self._left == 0
        return data
