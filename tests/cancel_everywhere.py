"""Cancels a flow at every step it takes, one attempt each, so that no checkpoint escapes a test.

    async def attempt(run: Interrupted) -> None:
        store = fresh()
        await run(flow, store)        # cut off somewhere, or done
        assert store.is_consistent()

    assert await cancel_everywhere(attempt) > 10

Each step is cut in two ways: *on entry*, where the cancellation waits for the checkpoint that ends the step, and *while
waiting*, where it arrives after the task has begun to wait (a thread is running, a lock is wanted).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count

import trio
from trio.abc import Instrument
from trio.lowlevel import Task

STEPS_MAX = 5_000


class Interrupted(Instrument):
    """Runs one flow and cancels it, with all tasks below it, at its ``step``-th step."""

    def __init__(self, *, step: int, waiting: bool) -> None:
        self.step = step
        self.waiting = waiting
        self.steps_seen = 0
        self._scope = trio.CancelScope()
        self._root: Task | None = None

    @property
    def cut(self) -> bool:
        """True once the flow was long enough to be cut."""
        return self.steps_seen >= self.step

    async def __call__(self, flow: Callable[..., Awaitable[object]], *args: object) -> None:
        self._root = trio.lowlevel.current_task()
        self.before_task_step(self._root)  # the step that is under way
        trio.lowlevel.add_instrument(self)
        try:
            with self._scope:
                await flow(*args)
        finally:
            trio.lowlevel.remove_instrument(self)

    def before_task_step(self, task: Task) -> None:
        if self._is_of_the_flow(task):
            self.steps_seen += 1
            if self.steps_seen == self.step and not self.waiting:
                self._scope.cancel()

    def after_task_step(self, task: Task) -> None:
        if self.waiting and self.steps_seen == self.step and self._is_of_the_flow(task):
            self._scope.cancel()

    def _is_of_the_flow(self, task: Task) -> bool:
        above: Task | None = task
        while above is not None and above is not self._root:
            above = above.parent_nursery.parent_task if above.parent_nursery else None
        return above is not None


async def cancel_everywhere(attempt: Callable[[Interrupted], Awaitable[None]], *, every: int = 1) -> int:
    """Make attempts until the flow gets through uncut. Returns how many steps it took then.

    ``every``: only each so many steps is one cut, where an attempt costs much.
    """
    for step in count(1, every):
        assert step <= STEPS_MAX, f"the flow takes more than {STEPS_MAX} steps"
        for waiting in (False, True):
            interrupted = Interrupted(step=step, waiting=waiting)
            await attempt(interrupted)
            if not interrupted.cut:
                return interrupted.steps_seen
    raise AssertionError("unreachable")
