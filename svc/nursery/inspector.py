"""The live tree of tasks: the parent of each task, what it waits for, where, and for how long.

Trio knows all of it but the time. An instrument records the time, from the first look until nobody has looked for a
while. So a service that nobody inspects pays nothing, and the first look shows no times.

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

from svc.nursery.stack_alarm import place

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
    it called. ``seconds``: since the task last ran, if known. ``count``: the number of tasks in a nursery, or the
    number that a row of ``more`` stands for. Nurseries without tasks are left out."""

    depth: int
    kind: Kind
    name: str
    waits_in: str = ""
    waits_for: str = ""
    seconds: float | None = None
    count: int = 1


class Inspector:
    """Costs something only while people look at it. ``began_s``: when this run began, by Trio's clock."""

    def __init__(self) -> None:
        self.began_s = trio.current_time()
        self._times = _StepTimes()
        self._looked_at_s = 0.0

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
            seconds=self._times.since(task),
        )
        in_use = [nursery for nursery in task.child_nurseries if nursery.child_tasks]
        for nursery in in_use:
            yield from self._nursery(nursery, depth + 1, is_one_of_many=len(in_use) > 1)

    def _nursery(self, nursery: trio.Nursery, depth: int, *, is_one_of_many: bool) -> Iterator[TreeRow]:
        """If a task has only one nursery, the tasks of that nursery are listed directly below the task."""
        if is_one_of_many:
            yield TreeRow(depth=depth, kind="nursery", name="nursery", count=len(nursery.child_tasks))
            depth += 1
        counts = Counter(task.name for task in nursery.child_tasks)
        for name, count in counts.items():
            alike = (task for task in nursery.child_tasks if task.name == name)
            for task in heapq.nlargest(ALIKE_SHOWN, alike, key=lambda one: self._times.since(one) or 0.0):
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
