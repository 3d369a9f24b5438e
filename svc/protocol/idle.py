"""The connections of a port that wait for a request, in the order since when: who waits for too long is closed.

Theory. A deadline of its own for each connection is moved twice for each request, and trio keeps deadlines in a heap:
that was a sixth of what a small request takes. All of them may wait equally long, so who has waited longest stands
first in one row, and one task looks at the first alone.
"""

from __future__ import annotations

from typing import Protocol

import trio

from svc.protocol.drain import Drain


class Waiting(Protocol):
    def close_if_idle(self) -> None: ...


class Idle:
    """``begin`` and ``end`` are called for each request, ``run`` once."""

    def __init__(self) -> None:
        self._since: dict[Waiting, float] = {}
        self._row_is_empty = trio.lowlevel.ParkingLot()

    def begin(self, one: Waiting) -> None:
        """It waits from now on, behind all others."""
        self._since.pop(one, None)
        self._since[one] = trio.current_time()
        if self._row_is_empty:
            self._row_is_empty.unpark_all()

    def end(self, one: Waiting) -> None:
        self._since.pop(one, None)

    async def run(self, idle_s: float, drain: Drain) -> None:
        """Until the drain begins, which closes all that are idle. Nobody is late: who comes after a look waits at least
        until the next one."""
        with trio.CancelScope() as scope, drain.on_begin(scope.cancel):
            next_look = trio.current_time() + idle_s
            while not drain():
                if not self._since:
                    await self._row_is_empty.park()
                    next_look = trio.current_time() + idle_s
                await trio.sleep_until(next_look)
                next_look = self._close_old(idle_s)

    def _close_old(self, idle_s: float) -> float:
        """When to look again."""
        now = trio.current_time()
        while self._since:
            first, since = next(iter(self._since.items()))
            if since + idle_s > now:
                return since + idle_s
            del self._since[first]
            first.close_if_idle()
        return now + idle_s
