"""Limits how many tasks do something at a time, fairly between people.

Only a few tasks of one person may be in the common queue; the person's others wait behind them. So if one person has
filled the queue, another person waits for a few tasks of that one, not for all.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import trio


@dataclass(kw_only=True)
class _Line:
    places: trio.Semaphore
    asked: int = 0


class Turns:
    """``each``: how many tasks of one person may run, or be in the common queue."""

    def __init__(self, *, at_a_time: int, each: int) -> None:
        self._each = each
        self._all = trio.Semaphore(at_a_time)
        self._lines: dict[str, _Line] = {}

    def asked(self, who: str) -> int:
        """How many tasks of this person run or wait."""
        line = self._lines.get(who)
        return 0 if line is None else line.asked

    @asynccontextmanager
    async def turn(self, who: str, *, wait_s: float = math.inf) -> AsyncIterator[None]:
        """Raises :class:`trio.TooSlowError` if no turn is free within ``wait_s``."""
        line = self._lines.setdefault(who, _Line(places=trio.Semaphore(self._each)))
        line.asked += 1
        try:
            async with AsyncExitStack() as held:
                with trio.fail_after(wait_s):
                    await held.enter_async_context(line.places)
                    await held.enter_async_context(self._all)
                yield
        finally:
            line.asked -= 1
            if not line.asked:
                del self._lines[who]
