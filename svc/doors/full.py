"""The answer to a connection for which there is no room at all: 503, with the request to try again."""

from __future__ import annotations

import secrets
from typing import Final

import trio

from svc.doors.crowd import Crowd
from svc.protocol import secure_headers

RETRY_AFTER_S: Final = 5
TURN_AWAY_S: Final = 1.0
"""Time for a client beyond all connections to take its 503. Beyond: the connection closes without it."""

_BODY: Final = (
    b'{"type":"about:blank","title":"Service Unavailable","status":503,'
    b'"detail":"Too many connections. Try again in a moment.","code":"unavailable"}'
)
_FIELDS: Final = (
    ("connection", "close"),
    ("content-type", "application/problem+json"),
    ("retry-after", str(RETRY_AFTER_S)),
    ("content-length", str(len(_BODY))),
    *secure_headers(("content-type", "retry-after")),
)
_HEAD: Final = "HTTP/1.1 503 Service Unavailable\r\n" + "".join(f"{name}: {value}\r\n" for name, value in _FIELDS)
_REQUEST_ID_BYTES: Final = 8


async def turn_away(stream: trio.abc.Stream, *, crowd: Crowd, date: str) -> None:
    """Send the 503 and close the connection. The request is not read, so an RPC client gets the same body as all."""
    request_id = secrets.token_hex(_REQUEST_ID_BYTES)
    crowd.beyond(turned_away=True)
    try:
        with trio.move_on_after(TURN_AWAY_S):
            head = f"{_HEAD}date: {date}\r\nx-request-id: {request_id}\r\n\r\n"
            await stream.send_all(head.encode() + _BODY)
            if isinstance(stream, trio.abc.HalfCloseableStream):
                await stream.send_eof()
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass
    finally:
        await trio.aclose_forcefully(stream)
