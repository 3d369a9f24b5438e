"""Answers that are sent piece by piece: a batch line by line (JSONL), and a subscription as server-sent events.

Theory. In a batch stream every call takes three nested promises (``result``, ``data``, the value), each with a chunk
number; a line settles one. Calls are sent as they finish, in any order. A subscription is a stream of events (HTML,
9.2): ``connected`` first, then one event with its data for each thing that is sent, and ``return`` at the end. An
event's ``id`` comes back in ``Last-Event-ID`` when the browser reconnects, after the pause that ``retry`` named; each
stream names another pause, so that not all clients come back at once after a restart. A refusal is an event as well: by
its code the client knows whether to reconnect.

In a silence, a space or a ``ping`` keeps proxies from taking the connection for dead.

Owns the bytes, and when a stream ends: with its source, its reader, or the service. A stream is cut in the middle of a
piece only if its connection is gone.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final

import msgspec
import trio

from svc.errors import Refusal
from svc.protocol.envelope import FIELDS, Outcome, error_shape
from svc.protocol.messages import HeaderList, Request, Response, Write
from svc.protocol.rows import Feed

PING_S: Final = 15.0
"""Silence in a stream. Beyond: a sign of life is sent."""
INACTIVE_S: Final = 40.0
"""Silence after which a client of a subscription takes its connection for dead. Beyond: it connects again and
resumes."""
RETRY_S: Final = 1.0
"""Pause of a client before it connects to a subscription again, at least; at most twice that."""

EVENT_STREAM: Final = "text/event-stream"
_EVENT_FIELDS: Final[HeaderList] = [
    ("content-type", EVENT_STREAM),
    ("cache-control", "no-cache, no-transform"),
    ("x-accel-buffering", "no"),
    ("vary", "trpc-accept, accept"),
]
_PING: Final = b"event: ping\ndata: \n\n\n"
_RETURN: Final = b"event: return\ndata: \n\n\n"

Wait = Callable[[], Awaitable[object]]
PerformAll = Callable[[Callable[[int, Outcome], Awaitable[None]]], Awaitable[None]]
"""Performs every call of a batch, and passes on each call's position and outcome as soon as it is known."""


def lines_response(count: int, perform_all: PerformAll, *, gone: Wait | None = None) -> Response:
    """A batch of ``count`` calls as JSONL. If ``gone`` is given, the batch is cancelled once ``gone`` returns."""

    async def produce(write: Write) -> None:
        following = count
        async with _lively(write, b" ", until=[] if gone is None else [gone]) as send:
            await send(msgspec.json.encode({str(i): [[0], [None, 0, i]] for i in range(count)}) + b"\n")

            async def tell(position: int, outcome: Outcome) -> None:
                nonlocal following
                lines, following = _lines(position, outcome, following)
                await send(lines)

            await perform_all(tell)

    return Response(headers=list(FIELDS), body=produce)


def _lines(position: int, outcome: Outcome, following: int) -> tuple[bytes, int]:
    """The lines of one call, and the next free chunk number."""
    if outcome.refusal is not None:
        return b"[%d,0,[[%b]]]\n" % (position, outcome.envelope()), following
    result, data = following, following + 1
    return (
        b'[%d,0,[[{"result":0}],["result",0,%d]]]\n' % (position, result)
        + b'[%d,0,[[{"data":0}],["data",0,%d]]]\n' % (result, data)
        + b"[%d,0,[[%b]]]\n" % (data, outcome.data)
    ), following + 2


def events_response(
    feed: Feed | Refusal, request: Request, path: str, *, noted: Callable[[Exception], Refusal]
) -> Response:
    """What ``feed`` sends, as server-sent events. ``noted`` turns an error of the feed into a refusal for the
    client."""

    async def produce(write: Write) -> None:
        async with _lively(write, _PING, until=_ends(request)) as send:
            await send(_connected())

            is_cut = False

            async def tell(data: object, *, id: str | None = None) -> None:
                nonlocal is_cut
                piece = _event(msgspec.json.encode(data), id=id)
                is_cut = True
                await send(piece)
                is_cut = False

            refused: Refusal | None = None
            try:
                if isinstance(feed, Refusal):
                    raise feed
                await feed(tell)
            except Refusal as refusal:
                refused = refusal
            except Exception as error:
                if is_cut:  # not an error of the feed: the client reads no more
                    raise
                refused = noted(error)
            await send(_RETURN if refused is None else _event(error_shape(refused, path), name="serialized-error"))

    return Response(headers=list(_EVENT_FIELDS), body=produce)


def _connected() -> bytes:
    least_ms = round(RETRY_S * 1_000)
    pause_ms = least_ms + secrets.randbelow(least_ms)
    options = msgspec.json.encode({"reconnectAfterInactivityMs": round(INACTIVE_S * 1_000)})
    return b"retry: %d\nevent: connected\ndata: %b\n\n\n" % (pause_ms, options)


def _event(data: bytes, *, name: str = "", id: str | None = None) -> bytes:
    head = f"event: {name}\n".encode() if name else b""
    tail = b"" if id is None else f"id: {id}\n".encode()
    return head + b"data: " + data + b"\n" + tail + b"\n\n"


def _ends(request: Request) -> Sequence[Wait]:
    """The two events that end a stream from outside: its reader closes the connection, or the service drains."""
    waits: list[Wait] = []
    if request.gone is not None:
        waits.append(request.gone)
    if request.draining is not None:
        waits.append(request.draining.wait)
    return waits


@asynccontextmanager
async def _lively(write: Write, sign: bytes, *, until: Sequence[Wait] = ()) -> AsyncIterator[Write]:
    """Write a stream one piece at a time, with a ``sign`` of life after each period of silence.

    The block is cancelled, between two pieces, once one of ``until`` returns.
    """
    turn = trio.Lock()
    last_sent = trio.current_time()

    async def send(piece: bytes, *, if_silent: bool = False) -> None:
        nonlocal last_sent
        async with turn:
            if not if_silent or trio.current_time() >= last_sent + PING_S:
                await write(piece)
                last_sent = trio.current_time()

    async with trio.open_nursery() as nursery:

        async def keep_alive() -> None:
            while True:
                await trio.sleep_until(last_sent + PING_S)
                await send(sign, if_silent=True)

        async def end_after(wait: Wait) -> None:
            await wait()
            async with turn:
                nursery.cancel_scope.cancel()

        nursery.start_soon(keep_alive)
        for wait in until:
            nursery.start_soon(end_after, wait)
        yield send
        async with turn:
            nursery.cancel_scope.cancel()
