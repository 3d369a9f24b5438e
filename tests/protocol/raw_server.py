"""A server on a real socket that says to each request exactly what a test scripts, and keeps what it heard."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import trio

Script = Callable[[trio.SocketStream], Awaitable[None]]


class Server:
    """Runs ``script`` for each connection, after the request has come; keeps what it heard."""

    def __init__(self, script: Script) -> None:
        self.heard: list[bytes] = []
        self.connections = 0
        self.script = script

    async def serve(self, stream: trio.SocketStream) -> None:
        self.connections += 1
        try:
            while await self.hear(stream):
                await self.script(stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the client hung up: it may

    async def hear(self, stream: trio.SocketStream) -> bool:
        data = b""
        while not _is_whole(data):
            more = await stream.receive_some()
            if not more:
                return False
            data += more
        self.heard.append(data)
        return True


def _is_whole(data: bytes) -> bool:
    head, end, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    return bool(end) and len(body) >= (int(length[1]) if length else 0)


@asynccontextmanager
async def served(script: Script) -> AsyncIterator[tuple[Server, str]]:
    server = Server(script)
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, server.serve, listeners)
        yield server, f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        nursery.cancel_scope.cancel()


def says(data: bytes, *, then_close: bool = True) -> Script:
    async def script(stream: trio.SocketStream) -> None:
        await stream.send_all(data)
        if then_close:
            await stream.aclose()

    return script
