"""TLS on a connection of ours, whose sending end can be closed while its receiving end stays open.

Our own connection and socket close so after a last answer: what the client goes on sending is read, or a reset would
lose the answer. Trio's TLS stream can't; here the end of the stream below is sent. The length of each answer is in its
head, so nobody needs a farewell of TLS itself. Owns no deadline but that of the handshake.
"""

from __future__ import annotations

from ssl import SSLContext

import trio


class TlsStream(trio.abc.HalfCloseableStream):
    """The server's end. ``socket`` is that of the stream below."""

    def __init__(self, plain: trio.SocketStream, context: SSLContext) -> None:
        self.socket = plain.socket
        self._plain = plain
        self._tls = trio.SSLStream(plain, context, server_side=True, https_compatible=True)

    async def shake_hands(self, *, within_s: float) -> bool:
        """Whether the handshake came to its end in time."""
        try:
            with trio.fail_after(within_s):
                await self._tls.do_handshake()
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
            return False
        return True

    @property
    def protocol(self) -> str | None:
        """What client and server agreed to speak (ALPN), after the handshake."""
        agreed: str | None = self._tls.selected_alpn_protocol()
        return agreed

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._tls.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._tls.wait_send_all_might_not_block()

    async def send_eof(self) -> None:
        await self._plain.send_eof()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self._tls.receive_some(max_bytes)

    async def aclose(self) -> None:
        await self._tls.aclose()
