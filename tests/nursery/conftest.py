"""A root to run, and subsystems that note what becomes of them."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
import trio

from svc.nursery import Child, Root, Subsystem, open_task_group
from tests.recorded_log import RecordedLog

Running = Callable[..., AbstractAsyncContextManager[None]]


@pytest.fixture
def root(log: RecordedLog) -> Root:
    return Root(log=log, rng=random.Random(7))


@pytest.fixture
def running(root: Root) -> Running:
    """``async with running(a, b):`` runs the root with these subsystems, and drains it afterwards."""

    @asynccontextmanager
    async def run(*subsystems: Subsystem) -> AsyncIterator[None]:
        async with open_task_group() as nursery:
            await nursery.start(root.run, subsystems)
            yield
            if not root.draining:
                root.drain("test over")

    return run


class Diary:
    """What happened, in order, and subsystems that write it."""

    def __init__(self) -> None:
        self.entries: list[str] = []

    def plain(self, name: str, *, essential: bool = False, independent: bool = False, start_s: float = 0) -> Subsystem:
        """Starts after ``start_s``, and then only waits for its end."""

        async def run(child: Child) -> None:
            try:
                await trio.sleep(start_s)
                child.started()
                self.entries.append(f"{name} serves")
                await trio.sleep_forever()
            finally:
                self.entries.append(f"{name} ends")

        return Subsystem(name=name, run=run, essential=essential, independent=independent)

    def working(
        self, name: str, *, work_s: float, drain_s: float = 5.0, independent: bool = False, essential: bool = False
    ) -> Subsystem:
        """Begins one piece of work that takes ``work_s``."""

        async def work() -> None:
            try:
                await trio.sleep(work_s)
                self.entries.append(f"{name} finished at {trio.current_time():g}")
            except trio.Cancelled:
                self.entries.append(f"{name} cut off at {trio.current_time():g}")
                raise

        async def run(child: Child) -> None:
            child.work.start_soon(work)
            child.started()
            await trio.sleep_forever()

        return Subsystem(name=name, run=run, drain_s=drain_s, independent=independent, essential=essential)


@pytest.fixture
def diary() -> Diary:
    return Diary()
