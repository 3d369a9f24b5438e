"""The connections of a port that wait for a request, in the order of their waiting: one that waits longer than
``Limits.idle_s`` is closed. On drain all are closed soon (``Limits.drain_idle_s``).

Theory. A deadline for each connection would be moved twice for each request, and trio keeps deadlines in a heap: that
took a sixth of the time of a small request. All may wait equally long, so the one that has waited longest is first in
one queue, and one task looks only at the first.

A client may have sent a request when we decide to close, and then can't know whether it took effect. So on drain each
connection stays a moment longer: a client that asks often asks in time, and its answer says that it is the last.
"""

from __future__ import annotations

from typing import Protocol

import trio

from svc.protocol.drain import Drain
from svc.protocol.limits import Limits


class Waiting(Protocol):
    def close_if_idle(self) -> None: ...


class Idle:
    """``begin`` and ``end`` are called for each request, ``run`` once."""

    def __init__(self) -> None:
        self._since: dict[Waiting, float] = {}
        self._row_is_empty = trio.lowlevel.ParkingLot()
        self._row_is_left = trio.lowlevel.ParkingLot()

    def begin(self, one: Waiting) -> None:
        """The connection waits from now on, last in the queue."""
        self._since.pop(one, None)
        self._since[one] = trio.current_time()
        if self._row_is_empty:
            self._row_is_empty.unpark_all()

    def end(self, one: Waiting) -> None:
        self._since.pop(one, None)
        if self._row_is_left and not self._since:
            self._row_is_left.unpark_all()

    async def run(self, limits: Limits, drain: Drain) -> None:
        """Run until the drain has begun and all that waited then are gone. No close is late: a connection added after
        a look may wait at least until the next look."""
        idle_s = limits.idle_s
        with trio.CancelScope() as scope, drain.on_begin(scope.cancel):
            next_look = trio.current_time() + idle_s
            while not drain():
                if not self._since:
                    await self._row_is_empty.park()
                    next_look = trio.current_time() + idle_s
                await trio.sleep_until(next_look)
                next_look = self._close_old(idle_s)
        with trio.move_on_after(limits.drain_idle_s):
            while self._since:
                await self._row_is_left.park()
        for one in tuple(self._since):
            one.close_if_idle()
        self._since.clear()

    def _close_old(self, idle_s: float) -> float:
        """Close those that waited too long. Returns when to look again."""
        now = trio.current_time()
        while self._since:
            first, since = next(iter(self._since.items()))
            if since + idle_s > now:
                return since + idle_s
            del self._since[first]
            first.close_if_idle()
        return now + idle_s
