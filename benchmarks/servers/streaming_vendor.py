"""``python -m benchmarks.servers.streaming_vendor FD``: of vendor A's API a stream of some words, without a pause.

Each event is sent by itself, as vendors send them.
"""

from __future__ import annotations

import json
import socket
import sys
from typing import Any, Final

import h11
import trio

WORDS: Final = 20
READ_BYTES: Final = 64 * 1024
HEADERS: Final = [("content-type", "text/event-stream"), ("transfer-encoding", "chunked")]


def _event(kind: str, **more: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()


_MESSAGE: Final[dict[str, Any]] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-stand-in",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 10, "output_tokens": 1},
}
EVENTS: Final = (
    _event("message_start", message=_MESSAGE),
    _event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    *(
        _event("content_block_delta", index=0, delta={"type": "text_delta", "text": f"word {number} "})
        for number in range(WORDS)
    ),
    _event("content_block_stop", index=0),
    _event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": WORDS}),
    _event("message_stop"),
)


async def answer(stream: trio.SocketStream) -> None:
    connection = h11.Connection(h11.SERVER)
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some(READ_BYTES))
        elif isinstance(event, h11.EndOfMessage):
            response = connection.send(h11.Response(status_code=200, headers=HEADERS)) or b""
            for piece in EVENTS:
                await stream.send_all(response + (connection.send(h11.Data(data=piece)) or b""))
                response = b""
            await stream.send_all(connection.send(h11.EndOfMessage()) or b"")
            if connection.our_state is h11.MUST_CLOSE:
                await stream.aclose()
                return
            connection.start_next_cycle()
        elif isinstance(event, h11.ConnectionClosed):
            return


async def _quietly(stream: trio.SocketStream) -> None:
    try:
        await answer(stream)
    except (trio.BrokenResourceError, h11.RemoteProtocolError):
        await trio.aclose_forcefully(stream)


async def serve(descriptor: int) -> None:
    listener = trio.SocketListener(trio.socket.from_stdlib_socket(socket.socket(fileno=descriptor)))
    await trio.serve_listeners(_quietly, [listener])


if __name__ == "__main__":
    trio.run(serve, int(sys.argv[1]))
