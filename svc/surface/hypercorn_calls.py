"""One request of HTTP/2 behind Hypercorn: what it hands to our application, and what it gets back.

Hypercorn hands over a few pieces of a body and then waits until one is read. If the application answers and reads no
more, as when it refuses a long upload, it would wait for ever: with the connection, all its other requests, and its
place. A WebSocket there keeps what a client goes on sending after a message that is too big, and inflates what it gets
before it counts it: so here each message announces its length, and nothing is compressed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.protocol.ws_stream import Handshake, WSStream
from hypercorn.typing import ASGIFramework

from svc.protocol import BoundConnection

_LAST: Final = frozenset({"http.response.body", "websocket.http.response.body", "websocket.close"})
_GONE: Final = frozenset({"http.disconnect", "websocket.disconnect"})


class Face(ASGIWrapper):
    """Our application, as Hypercorn calls it for one connection. ``running``: the calls that have not returned;
    ``methods``: of the requests that are to be called, by stream, as their clients wrote them."""

    def __init__(self, app: ASGIFramework, *, message_bytes: int) -> None:
        super().__init__(app)
        self._message_bytes = message_bytes
        self.running = 0
        self.methods: dict[int, str] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any, sync_spawn: Any, call_soon: Any) -> None:
        stream = send.__self__  # Hypercorn's end of this one request
        method = self.methods.pop(stream.stream_id)
        if isinstance(stream, WSStream):
            stream.handshake = _Handshake(scope["headers"], scope["http_version"], message_bytes=self._message_bytes)
        else:
            scope["method"] = method
        stream.app_put = inbox = _Inbox(stream.app_put, receive.__self__)
        self.running += 1
        try:
            await super().__call__(scope, receive, partial(_tell, send, inbox), sync_spawn, call_soon)
        finally:
            self.running -= 1


class _Handshake(Handshake):
    """Compression is not agreed to, and the frames of a message are counted by what they announce."""

    def __init__(self, headers: list[tuple[bytes, bytes]], http_version: str, *, message_bytes: int) -> None:
        super().__init__(headers, http_version)
        self.extensions = None
        self._message_bytes = message_bytes

    def accept(self, *args: Any) -> tuple[int, list[tuple[bytes, bytes]], BoundConnection]:
        status, headers, _ = super().accept(*args)
        return status, headers, BoundConnection(self._message_bytes)


class _Inbox:
    """What Hypercorn hands to a request. Once that is answered, all but the end of its connection is dropped."""

    def __init__(self, put: Callable[[Any], Awaitable[None]], channel: trio.MemoryReceiveChannel[Any]) -> None:
        self._put = put
        self._channel = channel
        self._is_answered = False

    async def __call__(self, event: Any) -> None:
        if not self._is_answered or event["type"] in _GONE:
            await self._put(event)

    def close(self) -> None:
        """Wake every task that waits to send."""
        self._is_answered = True
        with suppress(trio.WouldBlock, trio.EndOfChannel):
            while True:
                self._channel.receive_nowait()


async def _tell(send: Callable[[Any], Awaitable[None]], inbox: _Inbox, message: Any) -> None:
    if message["type"] in _LAST and not message.get("more_body", False):
        inbox.close()
    await send(message)
