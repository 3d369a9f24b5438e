"""The interface to a thread pool that runs the store's blocking calls.

Owns the :class:`RunsInThreads` protocol. The nursery's thread pool implements it; a test may pass its own. It never
makes threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class RunsInThreads(Protocol):
    """A pool of worker threads.

    A call that has begun is always awaited to its end, even by a cancelled task: the store's connections and files
    belong to one thread at a time.
    """

    async def run(self, fn: Callable[..., T], *args: object) -> T: ...
