"""The pool of worker threads: how many calls run at a time, and under which name.

Owns the limit. A call that has begun is always awaited to its end, even by a cancelled task, because a thread can't be
stopped. A call that may hang belongs in the process pool.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final, TypeVar

import trio

from svc.nursery.autojump import autojump_held

T = TypeVar("T")

TURN_S: Final = 0.0005


def shorten_turns() -> None:
    """Lets a thread that computes keep the interpreter's lock (GIL) for only :data:`TURN_S` while others wait for it.

    Python's default is 5 ms. Each call into SQLite gives the lock away and needs it back, and so does each step of the
    event loop: beside a thread that computes they waited for most of the time.
    """
    sys.setswitchinterval(TURN_S)


class ThreadPool:
    """Runs blocking calls in threads, at most ``limit`` at a time; others wait their turn in order.

    Under a mock clock time stands still during a call, so a call must not wait for virtual time to pass.
    """

    def __init__(self, *, limit: int, name: str) -> None:
        self.name = name
        self._limiter = trio.CapacityLimiter(limit)

    def statistics(self) -> trio.CapacityLimiterStatistics:
        """How many calls run in threads, and how many wait."""
        return self._limiter.statistics()

    async def run(self, fn: Callable[..., T], *args: object) -> T:
        """Run ``fn(*args)`` in a thread. Can be cancelled only while it waits for its turn."""
        with autojump_held():
            return await trio.to_thread.run_sync(fn, *args, limiter=self._limiter)
