"""Waits for a call or for a time, whichever comes first: every loop that looks for work does this."""

from __future__ import annotations

import math

import trio


class Wake:
    """One loop waits, any task calls. A call between two waits is not lost: the next wait then returns at once."""

    def __init__(self) -> None:
        self._called = trio.Event()

    def call(self) -> None:
        """Say that there may be something to do."""
        self._called.set()

    async def wait(self, *, at_most_s: float = math.inf) -> None:
        """Wait for a call, at most ``at_most_s``. It returns before the loop looks for work, so no later call is
        missed."""
        with trio.move_on_after(at_most_s):
            await self._called.wait()
        self._called = trio.Event()
