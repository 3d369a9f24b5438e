"""At least how long each task waits, at any time, from a look at all tasks once in some seconds.

Theory. Trio does not record when a task last ran, and to record it at each step would cost every request. But Trio
counts the steps of each task, so two samples with the same count mean: the task did not run between them. The first of
such samples is a lower bound, which is too short by the time between two samples at most.

Owns the last sample. A sample holds no task, only numbers, and is made in pieces, since there may be ten thousand idle
sockets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import trio
from trio.lowlevel import Task

SAMPLE_S: Final = 10.0
"""Between two samples. The known time of a wait is up to this much too short."""
TASKS_AT_ONCE: Final = 500
"""Tasks that are sampled before other tasks have their turn, which takes about 1 ms."""


class Samples:
    """The newest sample: for each task, by Trio's number of it, the count of its steps, and since when it has been the
    same. Plain numbers, because ten thousand new containers would make the garbage collector run."""

    def __init__(self) -> None:
        self._steps: dict[int, int] = {}
        self._since_s: dict[int, float] = {}

    @property
    def count(self) -> int:
        """The tasks of the newest sample."""
        return len(self._steps)

    def waits_at_least_s(self, task: Task) -> float:
        """0 if the task has run since the newest sample, or began after it."""
        return trio.current_time() - self._since_s[task._counter] if self._is_unmoved(task) else 0.0

    async def keep(self) -> None:
        """Make a sample every :data:`SAMPLE_S`, for ever."""
        while True:
            await self.take()
            await trio.sleep(SAMPLE_S)

    async def take(self) -> None:
        steps: dict[int, int] = {}
        since_s: dict[int, float] = {}
        now = trio.current_time()
        for number, task in enumerate(_all_tasks(), start=1):
            since_s[task._counter] = self._since_s[task._counter] if self._is_unmoved(task) else now
            steps[task._counter] = task._schedule_points
            if number % TASKS_AT_ONCE == 0:
                await trio.lowlevel.checkpoint()
                now = trio.current_time()
        self._steps, self._since_s = steps, since_s

    def _is_unmoved(self, task: Task) -> bool:
        return self._steps.get(task._counter) == task._schedule_points


def _all_tasks() -> Iterator[Task]:
    """Other tasks may run between two of them: one that ended has no children, one that began may be left out."""
    root = trio.lowlevel.current_root_task()
    assert root is not None, "there is a run"
    waiting = [root]
    while waiting:
        task = waiting.pop()
        yield task
        for nursery in task.child_nurseries:
            waiting += nursery.child_tasks
