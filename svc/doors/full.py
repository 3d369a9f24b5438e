"""The answer to a connection for which there is no room at all: 503, with the request to try again."""

from __future__ import annotations

import secrets
from typing import Final

import trio

from svc.doors.crowd import Crowd

RETRY_AFTER_S: Final = 5
TURN_AWAY_S: Final = 1.0
"""Time for a client beyond all connections to take its 503. Beyond: the connection closes without it."""

_BODY: Final = (
    b'{"type":"about:blank","title":"Service Unavailable","status":503,'
    b'"detail":"Too many connections. Try again in a moment.","code":"unavailable"}'
)
_HEAD: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-type: application/problem+json\r\n"
    b"cache-control: no-store\r\nretry-after: %d\r\ncontent-length: %d\r\nx-request-id: " % (RETRY_AFTER_S, len(_BODY))
)
_REQUEST_ID_BYTES: Final = 8


async def turn_away(stream: trio.abc.Stream, *, crowd: Crowd) -> None:
    """Send the 503 and close the connection."""
    request_id = secrets.token_hex(_REQUEST_ID_BYTES)
    crowd.beyond(turned_away=True)
    try:
        with trio.move_on_after(TURN_AWAY_S):
            await stream.send_all(_HEAD + request_id.encode() + b"\r\n\r\n" + _BODY)
            if isinstance(stream, trio.abc.HalfCloseableStream):
                await stream.send_eof()
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass
    finally:
        await trio.aclose_forcefully(stream)
