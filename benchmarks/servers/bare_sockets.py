"""WebSockets by trio and wsproto and nothing else: what ``go`` from one client sends to all is encoded once.

``python -m benchmarks.servers.bare_sockets FD``; any other request is answered 200, so that one can see that it serves.
"""

from __future__ import annotations

import socket
import sys
from typing import Final

import trio
from wsproto import ConnectionType, WSConnection
from wsproto.connection import Connection
from wsproto.events import AcceptConnection, Request, TextMessage

READ_BYTES: Final = 16 * 1024
_OK: Final = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_all: set[trio.SocketStream] = set()


async def serve(stream: trio.SocketStream) -> None:
    async with stream:
        head = await stream.receive_some(READ_BYTES)
        if b"pgrade" not in head:
            await stream.send_all(_OK)
            return
        frames = WSConnection(ConnectionType.SERVER)
        frames.receive_data(bytes(head))
        assert isinstance(next(frames.events()), Request)
        ready = frames.send(AcceptConnection()) + frames.send(TextMessage(data='{"type":"ready","seq":0}'))
        await stream.send_all(ready)
        _all.add(stream)
        try:
            while data := await stream.receive_some(READ_BYTES):
                frames.receive_data(bytes(data))
                for event in frames.events():
                    if isinstance(event, TextMessage) and event.data == "go":
                        await _tell_all()
        except trio.BrokenResourceError:
            pass
        finally:
            _all.discard(stream)


async def _tell_all() -> None:
    frame = Connection(ConnectionType.SERVER).send(TextMessage(data='{"type":"event","payload":"' + "x" * 120 + '"}'))
    for stream in list(_all):
        await stream.send_all(frame)


async def main(descriptor: int) -> None:
    listener = trio.SocketListener(trio.socket.from_stdlib_socket(socket.socket(fileno=descriptor)))
    await trio.serve_listeners(serve, [listener])


if __name__ == "__main__":
    trio.run(main, int(sys.argv[1]))
