"""The live tree of tasks: the parent of each task, what it waits for, where, and for how long.

Trio knows all of it but the time. While people look, an instrument records when each task runs, until nobody has looked
for a while. For a task that has not run since the first look, the samples of :mod:`svc.nursery.samples` say how long it
waits at least. So a service that nobody inspects pays for a sample once in some seconds.

Shows only names of functions, files and lines, never values: a task's values may be a user's mail.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final, Literal

import trio
from trio.abc import Instrument
from trio.lowlevel import Task

from svc.nursery.autojump import time_is_virtual
from svc.nursery.samples import Samples
from svc.nursery.stack_alarm import place
from svc.nursery.subsystem import Child, Subsystem

LOOKED_AT_S: Final = 60.0
"""How long after the last look the times are still recorded."""
ALIKE_SHOWN: Final = 10
"""Tasks of the same name in one nursery that are shown: those that wait longest. The others are counted."""
ROWS_MAX: Final = 1_000
"""Rows of one look. More are left out, and the result says so."""
_OWN: Final = str(Path(__file__).parents[1])

Kind = Literal["task", "nursery", "more"]


@dataclass(frozen=True, kw_only=True)
class TreeRow:
    """One line of the tree. ``waits_in`` is the innermost place in our own code, ``waits_for`` the trio function that
    it called. ``seconds``: since the task last ran; ``at_least``: it may be up to ``SAMPLE_S`` more. ``count``: the
    number of tasks in a nursery, or the number that a row of ``more`` stands for. Nurseries without tasks are left
    out."""

    depth: int
    kind: Kind
    name: str
    waits_in: str = ""
    waits_for: str = ""
    seconds: float | None = None
    at_least: bool = False
    count: int = 1


class Inspector:
    """``began_s``: when this run began, by Trio's clock. ``samples``: kept by the subsystem."""

    def __init__(self) -> None:
        self.began_s = trio.current_time()
        self.samples = Samples()
        self._times = _StepTimes()
        self._looked_at_s = 0.0

    def subsystem(self) -> Subsystem:
        """Samples the tasks. In virtual time it returns at once: a simulated day would have thousands of samples."""
        return Subsystem(name="inspector", run=self._sample, independent=True, drain_s=0.0)

    async def _sample(self, child: Child) -> None:
        child.started()
        if not time_is_virtual():
            await self.samples.keep()

    def look(self) -> tuple[Sequence[TreeRow], bool]:
        """The tree from the first task of this run, and whether something is left out."""
        self._looked_at_s = trio.current_time()
        self._times.begin(self._end_unless_looked_at)
        root = trio.lowlevel.current_root_task()
        assert root is not None, "there is a run"
        rows: list[TreeRow] = []
        for row in self._task(root, 0):
            if len(rows) == ROWS_MAX:
                return rows, True
            rows.append(row)
        return rows, False

    def _end_unless_looked_at(self) -> bool:
        return trio.current_time() - self._looked_at_s > LOOKED_AT_S

    def _task(self, task: Task, depth: int) -> Iterator[TreeRow]:
        waits_in, waits_for = _wait_of(task)
        yield TreeRow(
            depth=depth,
            kind="task",
            name=_short(task.name),
            waits_in=waits_in,
            waits_for=waits_for,
            seconds=self._waits_s(task),
            at_least=self._times.since(task) is None,
        )
        in_use = [nursery for nursery in task.child_nurseries if nursery.child_tasks]
        for nursery in in_use:
            yield from self._nursery(nursery, depth + 1, is_one_of_many=len(in_use) > 1)

    def _waits_s(self, task: Task) -> float:
        exact = self._times.since(task)
        return self.samples.waits_at_least_s(task) if exact is None else exact

    def _nursery(self, nursery: trio.Nursery, depth: int, *, is_one_of_many: bool) -> Iterator[TreeRow]:
        """If a task has only one nursery, the tasks of that nursery are listed directly below the task."""
        if is_one_of_many:
            yield TreeRow(depth=depth, kind="nursery", name="nursery", count=len(nursery.child_tasks))
            depth += 1
        counts = Counter(task.name for task in nursery.child_tasks)
        for name, count in counts.items():
            alike = (task for task in nursery.child_tasks if task.name == name)
            for task in heapq.nlargest(ALIKE_SHOWN, alike, key=self._waits_s):
                yield from self._task(task, depth)
            if count > ALIKE_SHOWN:
                yield TreeRow(depth=depth, kind="more", name=_short(name), count=count - ALIKE_SHOWN)


def _wait_of(task: Task) -> tuple[str, str]:
    """The place in our code where the task waits, and the foreign function it waits for. For a task without our code:
    the innermost frame."""
    inside: tuple[FrameType, int] | None = None
    called: FrameType | None = None
    innermost: tuple[FrameType, int] | None = None
    for frame, line in task.iter_await_frames():
        innermost = frame, line
        if frame.f_code.co_filename.startswith(_OWN):
            inside, called = innermost, None
        elif called is None:
            called = frame
    at = inside or innermost
    return ("" if at is None else place(*at)), ("" if called is None else called.f_code.co_qualname)


def _short(name: str) -> str:
    """Without ``svc.``: Trio puts the path of the module before the function in the name of a task."""
    return name.removeprefix("svc.")


class _StepTimes(Instrument):
    """When each task last ran. The instrument removes itself once ``end`` returns true."""

    def __init__(self) -> None:
        self._ran_s: dict[Task, float] = {}
        self._end: Callable[[], bool] = lambda: True
        self._is_on = False

    def begin(self, end: Callable[[], bool]) -> None:
        self._end = end
        if not self._is_on:
            self._is_on = True
            trio.lowlevel.add_instrument(self)

    def since(self, task: Task) -> float | None:
        ran_s = self._ran_s.get(task)
        return None if ran_s is None else max(0.0, trio.current_time() - ran_s)

    def before_task_step(self, task: Task) -> None:
        self._ran_s[task] = trio.current_time()

    def task_exited(self, task: Task) -> None:
        self._ran_s.pop(task, None)

    def before_io_wait(self, timeout: float) -> None:
        if self._end():
            trio.lowlevel.remove_instrument(self)
            self._is_on = False
            self._ran_s.clear()
