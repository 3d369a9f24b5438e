"""Two steps at once: fetches the next piece while the last one is processed. So a disk, a hash and a socket do not wait
for each other, and at most two pieces are in memory.

It belongs to no feature: the store and the protocol both stream, and do not know each other.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import Literal, TypeVar

import trio

T = TypeVar("T")


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


async def write_ahead(pieces: AsyncGenerator[bytes, None], write: Callable[[bytes], Awaitable[None]]) -> None:
    """Write all pieces, each while the next one is fetched. ``pieces`` are always closed at the end."""
    async with aclosing(pieces):
        piece = await _next(pieces)
        while piece is not None:
            piece = await at_once(partial(_next, pieces), partial(write, piece), first="fetch")


async def _next(pieces: AsyncGenerator[bytes, None]) -> bytes | None:
    """``None`` after the last."""
    return await anext(pieces, None)
