"""A loop of one receive and one send on trio streams: with h11 as the parser, or with no parser at all.

The second is the most that any server on trio's streams can reach; the first is what h11's events alone leave of it.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Awaitable, Callable
from functools import partial

import h11
import trio

from benchmarks.servers.smallest_asgi import BODY, HEADERS

ANSWER = b"HTTP/1.1 200 OK\r\n" + b"".join(b"%b: %b\r\n" % field for field in HEADERS) + b"\r\n" + BODY
READ_BYTES = 16 * 1024

Loop = Callable[[trio.SocketStream], Awaitable[None]]


async def with_h11(stream: trio.SocketStream) -> None:
    connection = h11.Connection(h11.SERVER)
    response = h11.Response(status_code=200, headers=HEADERS)
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some(READ_BYTES))
        elif isinstance(event, h11.EndOfMessage):
            parts = (response, h11.Data(data=BODY), h11.EndOfMessage())
            await stream.send_all(b"".join(connection.send(part) or b"" for part in parts))
            connection.start_next_cycle()
        elif isinstance(event, h11.ConnectionClosed):
            return


async def without_parsing(stream: trio.SocketStream) -> None:
    while await stream.receive_some(READ_BYTES):
        await stream.send_all(ANSWER)


async def serve(descriptor: int, *, parse: bool) -> None:
    listener = trio.SocketListener(trio.socket.from_stdlib_socket(socket.socket(fileno=descriptor)))
    await trio.serve_listeners(partial(_quietly, with_h11 if parse else without_parsing), [listener])


async def _quietly(loop: Loop, stream: trio.SocketStream) -> None:
    try:
        await loop(stream)
    except (trio.BrokenResourceError, h11.RemoteProtocolError):
        await trio.aclose_forcefully(stream)  # the load generator went away in the middle of a request


if __name__ == "__main__":
    trio.run(partial(serve, int(sys.argv[1]), parse=sys.argv[2] == "h11"))
