"""Calls in progress through the broker: limits per run and in total, and reading the rest of answers that have lost
their caller.

A vendor reports the cost of an answer at its end. If the caller hangs up, the rest is read here only for that, within a
bound. Owns the counts and the tasks that read the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from svc.errors import Refusal
from svc.nursery import Child

MAX_CALLS: Final = 64
MAX_CALLS_EACH: Final = 16
"""Per run: for parallel steps, not a flood."""
MAX_BODY_BYTES: Final = 32 << 20
"""The largest body that vendor A accepts."""
MAX_BYTES: Final = 4 * MAX_BODY_BYTES
"""All request bodies held in memory together."""
MAX_READ_ON: Final = 32
RETRY_AFTER_S: Final = 1


class Slot:
    """The slot of one call. Leaving it more than once has no further effect.

    ``with slot:`` leaves it only if the block fails; after a success the call keeps it.
    """

    def __init__(self, leave: Callable[[], None]) -> None:
        self._leave: Callable[[], None] | None = leave

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        if kind is not None:
            self.leave()

    def leave(self) -> None:
        if self._leave is not None:
            leave, self._leave = self._leave, None
            leave()


class InFlight:
    def __init__(self) -> None:
        self._calls: Counter[str] = Counter()
        self._bytes = 0
        self._reading_on = 0
        self._nursery: trio.Nursery | None = None

    @property
    def calls(self) -> int:
        """The number of calls in progress."""
        return self._calls.total()

    def enter(self, run_id: str, *, body_bytes: int | None) -> Slot:
        """Take a slot for a call with a body of this size; ``None``: the size is unknown. Raises 413 and 429."""
        held = MAX_BODY_BYTES if body_bytes is None else body_bytes
        if held > MAX_BODY_BYTES:
            raise Refusal(f"The body may have at most {MAX_BODY_BYTES} bytes.", code="too_large")
        if self._calls[run_id] >= MAX_CALLS_EACH or self._calls.total() >= MAX_CALLS or self._bytes + held > MAX_BYTES:
            raise Refusal(
                "Too many calls are under way.", code="rate_limited", headers={"retry-after": str(RETRY_AFTER_S)}
            )
        self._calls[run_id] += 1
        self._bytes += held
        return Slot(lambda: self._left(run_id, held))

    def _left(self, run_id: str, held: int) -> None:
        self._calls[run_id] -= 1
        self._calls += Counter()  # removes the runs without a call
        self._bytes -= held

    async def run(self, child: Child) -> None:
        """The subsystem that reads the rest."""
        self._nursery = child.work
        child.started()
        try:
            await trio.sleep_forever()
        finally:
            self._nursery = None

    def read_on(self, rest: Callable[[], Awaitable[None]]) -> bool:
        """Returns whether the rest will be read: not if too many are already being read, or the service drains."""
        if self._nursery is None or self._reading_on >= MAX_READ_ON:
            return False
        self._reading_on += 1
        self._nursery.start_soon(self._read_on, rest)
        return True

    async def _read_on(self, rest: Callable[[], Awaitable[None]]) -> None:
        try:
            await rest()
        finally:
            self._reading_on -= 1
