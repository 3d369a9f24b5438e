"""WebSockets by ``websockets`` on asyncio: what ``go`` from one client says is broadcast to all, encoded once.

``python -m benchmarks.servers.websockets_broadcast FD``; any other request is answered 200, so that one can see that it
serves. Nothing is compressed and nobody is pinged: the sockets of the benchmark answer no ping.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from http import HTTPStatus
from typing import Final

from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.http11 import Request, Response

EVENT: Final = '{"type":"event","payload":"' + "x" * 120 + '"}'
_all: set[ServerConnection] = set()


async def talk(connection: ServerConnection) -> None:
    await connection.send('{"type":"ready","seq":0}')
    _all.add(connection)
    try:
        async for message in connection:
            if message == "go":
                broadcast(_all, EVENT)
    finally:
        _all.discard(connection)


def answer(connection: ServerConnection, request: Request) -> Response | None:
    if "Upgrade" in request.headers:
        return None
    return connection.respond(HTTPStatus.OK, "")


async def main(descriptor: int) -> None:
    listener = socket.socket(fileno=descriptor)
    async with serve(talk, sock=listener, compression=None, process_request=answer, ping_interval=None) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
