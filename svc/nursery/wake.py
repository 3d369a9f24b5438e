"""Waiting for a call or for a time, whichever comes first: what every loop does that looks for work."""

from __future__ import annotations

import math

import trio


class Wake:
    """One loop waits, any task calls. A call between two waits is not lost: the next wait returns at once."""

    def __init__(self) -> None:
        self._called = trio.Event()

    def call(self) -> None:
        """There may be something to do."""
        self._called.set()

    async def wait(self, *, at_most_s: float = math.inf) -> None:
        """Until it is called, or the time is over. Returns before the loop looks, so that no later call is missed."""
        with trio.move_on_after(at_most_s):
            await self._called.wait()
        self._called = trio.Event()
