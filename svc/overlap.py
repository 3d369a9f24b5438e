"""Two steps at once: the next piece is fetched while the last one is worked on. So a disk, a hash and a socket need not
wait for each other, and no more than two pieces are in memory.

Belongs to nobody: the store and the protocol both stream, and are strangers to each other.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import TypeVar

import trio

T = TypeVar("T")


async def at_once(fetch: Callable[[], Awaitable[T]], work: Callable[[], Awaitable[None]]) -> T:
    """Run both to their ends; what ``fetch`` returned. Raises what either raises, as it is.

    Where ``work`` fails nobody wants the next piece: ``fetch``, which may wait for a client, is cancelled. Where
    ``fetch`` fails, ``work`` comes to its end first: the last piece was good.
    """
    faults: list[Exception] = []
    fetched: list[T] = []

    async def working() -> None:
        try:
            await work()
        except Exception as error:
            faults.insert(0, error)
            nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(working)
        try:
            fetched.append(await fetch())
        except Exception as error:
            faults.append(error)
    if faults:
        raise faults[0]
    return fetched[0]


async def write_ahead(pieces: AsyncGenerator[bytes, None], write: Callable[[bytes], Awaitable[None]]) -> None:
    """Write all of them, each while the next one is fetched. ``pieces`` are closed at the end, whatever it is."""
    async with aclosing(pieces):
        piece = await _next(pieces)
        while piece is not None:
            piece = await at_once(partial(_next, pieces), partial(write, piece))


async def _next(pieces: AsyncGenerator[bytes, None]) -> bytes | None:
    """``None`` at the end."""
    return await anext(pieces, None)
