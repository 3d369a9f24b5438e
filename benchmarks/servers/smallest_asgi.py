"""The smallest ASGI app that answers as ``health.ping`` does, under Hypercorn's trio worker."""

from __future__ import annotations

import sys

import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope

BODY = b'{"result":{"data":{"version":"0.1.0","time":"2026-01-01T00:00:00.000Z","ok":true}}}'
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]


async def app(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    if scope["type"] == "lifespan":
        await _live(receive, send)
        return
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS, "trailers": False})
    await send({"type": "http.response.body", "body": BODY, "more_body": False})


async def _live(receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


def main() -> None:
    config = Config()
    config.bind = [f"fd://{sys.argv[1]}"]
    config.errorlog = None
    trio.run(serve, app, config)


if __name__ == "__main__":
    main()
