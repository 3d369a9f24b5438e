"""The pool of worker processes: for content from strangers that may make a parser hang, use too much memory or crash.

Owns the workers: how many there are, how long a call may take, how much memory and processor time it may use, and their
end. A worker is kept for the next call, and killed when its call takes too long. No worker outlives the service: an
idle one sees its pipe close, a busy one watches its parent.

The worker finds ``fn`` by its import path, so ``fn`` is a function at module level, and its module imports little. What
this pool itself has to do in a worker is in ``svc/worker_limits.py``, for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Final, Self, TypeVar, cast

import trio
import trio_parallel

from svc.nursery.autojump import autojump_held
from svc.worker_limits import is_swollen, limited, prepare_worker

if TYPE_CHECKING:
    from trio_parallel import WorkerContext

T = TypeVar("T")

WORKER_MEMORY_BYTES: Final = 1 << 30
IDLE_S: Final = 60.0
CLOSING_GRACE_S: Final = 2.0
PROCESSOR_MARGIN_S: Final = 1.0
"""Processor time beyond the deadline, after which the system ends a worker that its parent did not end."""


class WorkerTimeout(Exception):
    """The call took longer than its deadline; its worker was killed."""


class WorkerCrashed(Exception):
    """The worker died during the call, or used up its memory."""


class ProcessPool:
    """Runs functions in worker processes, at most ``limit`` at a time.

    Open it with ``async with``. Workers start on use.
    """

    def __init__(self, *, limit: int, name: str, memory_bytes: int = WORKER_MEMORY_BYTES) -> None:
        self.name = name
        self._limiter = trio.CapacityLimiter(limit)
        self._memory_bytes = memory_bytes
        self._stack = AsyncExitStack()
        self._workers: WorkerContext | None = None
        self._calls: set[trio.CancelScope] = set()

    async def __aenter__(self) -> Self:
        context = trio_parallel.open_worker_context(
            idle_timeout=IDLE_S,
            init=partial(prepare_worker, self._memory_bytes),
            retire=partial(is_swollen, self._memory_bytes),
            grace_period=CLOSING_GRACE_S,
        )
        self._workers = await self._stack.enter_async_context(context)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End all workers: idle ones end by themselves, busy ones and those that take too long are killed. Later calls
        raise ``ClosedResourceError``."""
        self._workers = None
        for call in self._calls:
            call.cancel()
        with autojump_held(), suppress(trio_parallel.BrokenWorkerError):  # some had to be killed; they have ended
            await self._stack.aclose()

    def statistics(self) -> trio.CapacityLimiterStatistics:
        """How many calls run in workers, and how many wait."""
        return self._limiter.statistics()

    async def run(self, fn: Callable[..., T], *args: object, deadline_s: float) -> T:
        """Run ``fn(*args)`` in a worker, within ``deadline_s`` of getting one. A cancelled call's worker is killed.

        Raises what ``fn`` raises, ``WorkerTimeout`` or ``WorkerCrashed``. Under a mock clock, time stands still during
        the call: a deadline passes only if the test itself moves the clock.
        """
        with autojump_held():
            async with self._limiter:
                return await self._call(partial(limited, fn, deadline_s + PROCESSOR_MARGIN_S), args, deadline_s)

    async def _call(self, job: Callable[..., T], args: tuple[object, ...], deadline_s: float) -> T:
        if self._workers is None:
            raise trio.ClosedResourceError(f"the pool {self.name!r} is closed")
        with trio.move_on_after(deadline_s) as scope:
            self._calls.add(scope)
            try:
                result = await self._workers.run_sync(job, *args, kill_on_cancel=True, limiter=nullcontext())
                return cast(T, result)
            except trio_parallel.BrokenWorkerError as error:
                raise WorkerCrashed(f"a worker of the pool {self.name!r} died") from error
            except MemoryError as error:
                raise WorkerCrashed(f"a worker of the pool {self.name!r} ran out of memory") from error
            finally:
                self._calls.discard(scope)
        if self._workers is None:
            raise trio.ClosedResourceError(f"the pool {self.name!r} was closed during a call")
        raise WorkerTimeout(f"a call through the pool {self.name!r} took longer than {deadline_s:g} s")
