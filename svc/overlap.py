"""Several steps at once: fetches the next piece while the last ones are processed. A disk, a hash and a socket do not
wait for each other, and few pieces are in memory.

It belongs to no feature: the store and the protocol both stream, and do not know each other.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, aclosing, suppress
from functools import partial
from typing import Final, Literal, TypeVar

import trio

T = TypeVar("T")
Work = Callable[[Sequence[bytes]], Awaitable[None]]
"""A step with pieces, in their order."""

PIECES_AHEAD: Final = 2
"""Pieces that wait for a slower step."""


async def at_once(
    fetch: Callable[[], Awaitable[T]], work: Callable[[], Awaitable[None]], *, first: Literal["fetch", "work"]
) -> T:
    """Run both to their ends, and return the result of ``fetch``. Raises what either raises, unchanged.

    ``first``: the one that runs in a thread, so that it runs while the other one keeps this thread busy with a socket.

    If ``work`` fails, the next piece is not needed: ``fetch``, which may wait for a client, is cancelled. If ``fetch``
    fails, ``work`` finishes first, because the last piece was good.
    """
    faults: list[Exception] = []
    fetched: list[T] = []

    async def fetching() -> None:
        try:
            fetched.append(await fetch())
        except Exception as error:
            faults.append(error)

    async def working() -> None:
        try:
            await work()
        except Exception as error:
            faults.insert(0, error)
            nursery.cancel_scope.cancel()

    async def begin_later(step: Callable[[], Awaitable[None]]) -> None:
        await trio.lowlevel.checkpoint()
        await step()

    leading, following = (fetching, working) if first == "fetch" else (working, fetching)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(begin_later, following)
        await leading()
    if faults:
        raise faults[0]
    return fetched[0]


async def feed(fetch: Callable[[], Awaitable[bytes]], works: Sequence[Work]) -> None:
    """Fetch pieces until an empty one, and give each to all of ``works``. None of them waits for another: at most
    ``PIECES_AHEAD`` pieces wait for it, and it gets all that wait at once.

    Raises what any of them raises, unchanged. If one of ``works`` fails, everything else is cancelled. If ``fetch``
    fails, they finish first, because the pieces so far were good.
    """
    faults: list[Exception] = []

    async def working(work: Work, pieces: trio.MemoryReceiveChannel[bytes]) -> None:
        try:
            async for piece in pieces:
                await work([piece, *_waiting(pieces)])
        except Exception as error:
            faults.insert(0, error)
            nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        with ExitStack() as stack:
            channels = []
            for work in works:
                gives, takes = trio.open_memory_channel[bytes](PIECES_AHEAD)
                channels.append(stack.enter_context(gives))
                nursery.start_soon(working, work, takes)
            try:
                while piece := await fetch():
                    for channel in channels:
                        await channel.send(piece)
            except Exception as error:
                faults.append(error)
    if faults:
        raise faults[0]


def _waiting(pieces: trio.MemoryReceiveChannel[bytes]) -> Iterator[bytes]:
    with suppress(trio.WouldBlock, trio.EndOfChannel):
        while True:
            yield pieces.receive_nowait()


async def write_ahead(pieces: AsyncGenerator[bytes, None], write: Callable[[bytes], Awaitable[None]]) -> None:
    """Write all pieces, each while the next one is fetched. ``pieces`` are always closed at the end."""
    async with aclosing(pieces):
        piece = await _next(pieces)
        while piece is not None:
            piece = await at_once(partial(_next, pieces), partial(write, piece), first="fetch")


async def _next(pieces: AsyncGenerator[bytes, None]) -> bytes | None:
    """``None`` after the last."""
    return await anext(pieces, None)
