"""A step that was made by several calls is taken back as one step."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import pytest
import trio

from svc import undo
from svc.clock import VirtualClock
from svc.nursery import ThreadPool, open_task_group
from svc.principal import UNCLAIMED, Principal
from svc.reversal import Reversal, UndoStep
from svc.store import Store, Tx
from svc.undo import KEEP_STEPS, TakenBack
from svc.undo.migrations import MIGRATIONS
from svc.undo.queries import KEEP_ROWS

MIA: Final = Principal(user_id="usr_mia", device_id="dev_mia", is_admin=False, via="session")


class Nothing(msgspec.Struct, frozen=True):
    pass


@dataclass(kw_only=True)
class Log:
    """A person's steps, and the ids of what was taken back, in order. ``closed``: of what can't be any more."""

    store: Store
    taken: list[str]
    closed: set[str]

    async def did(self, *concerns: str, group: str | None = None, who: Principal = UNCLAIMED) -> None:
        def act(tx: Tx) -> None:
            undo.record(tx, who, kind="act", what="act", concerns=concerns, inverse=Nothing(), group=group)

        await self.store.write(act)

    async def back(self, who: Principal = UNCLAIMED) -> tuple[str, ...] | None:
        taken: TakenBack | None = await self.store.write(undo.take_back, who, reversals={"act": self._reversal})
        return None if taken is None else taken.step.concerns

    async def offered(self) -> list[tuple[str, ...]]:
        found = await self.store.read(undo.undoable, UNCLAIMED, reversals={"act": self._reversal})
        return [step.concerns for step in found]

    @property
    def _reversal(self) -> Reversal:
        def take_back(tx: Tx, principal: Principal, step: UndoStep) -> None:
            self.taken.extend(step.concerns)

        return Reversal(kind="act", take_back=take_back, is_open=lambda tx, step: self.closed.isdisjoint(step.concerns))


@pytest.fixture
async def steps(tmp_path: Path, wall: VirtualClock, threads: ThreadPool) -> AsyncIterator[Log]:
    store = Store.open(tmp_path / "svc.sqlite3", clock=wall, threads=threads, migrations=[MIGRATIONS])
    try:
        async with open_task_group() as nursery:
            started = trio.Event()
            nursery.start_soon(lambda: store.run_writer(started=started.set))
            await started.wait()
            yield Log(store=store, taken=[], closed=set())
            nursery.cancel_scope.cancel()
    finally:
        store.close_now()


async def test_all_calls_of_a_step_are_taken_back_at_once_the_last_first(steps: Log) -> None:
    await steps.did("before")
    await steps.did("a", "b", group="g")
    await steps.did("c", group="g")
    assert await steps.offered() == [("a", "b", "c"), ("before",)]
    assert await steps.back() == ("a", "b", "c")
    assert steps.taken == ["c", "a", "b"]
    assert await steps.back() == ("before",)
    assert await steps.back() is None


async def test_what_another_device_did_in_between_stays(steps: Log) -> None:
    await steps.did("a", group="g")
    await steps.did("other")
    await steps.did("b", group="g")
    assert await steps.back() == ("a", "b")
    assert await steps.offered() == [("other",)]


async def test_two_groups_and_two_single_steps_are_not_one(steps: Log) -> None:
    for group in ("g", "h", None, None):
        await steps.did(str(group), group=group)
    assert [await steps.back() for _ in range(5)] == [("None",), ("None",), ("h",), ("g",), None]


async def test_a_group_is_its_persons_own(steps: Log) -> None:
    await steps.did("hers", group="g", who=MIA)
    await steps.did("mine", group="g")
    assert await steps.back() == ("mine",)
    assert await steps.back() is None
    assert await steps.back(MIA) == ("hers",)


async def test_a_call_that_can_not_be_taken_back_any_more_does_not_keep_the_others(steps: Log) -> None:
    for one in "abc":
        await steps.did(one, group="g")
    steps.closed = {"b", "c"}
    assert await steps.offered() == [("a",)]
    assert await steps.back() == ("a",)
    assert await steps.back() is None


async def test_a_step_of_many_calls_counts_as_one_among_those_that_are_kept(steps: Log) -> None:
    for number in range(4):
        await steps.did(f"old {number}", group="old")
    await steps.did("gone")
    for number in range(10):
        await steps.did(f"many {number}", group="many")
    for number in range(KEEP_STEPS - 3):
        await steps.did(f"single {number}")
    await steps.did("last of old", group="old")
    await steps.did("newest")
    offered = await steps.offered()
    assert len(offered) == KEEP_STEPS
    assert (len(offered[1]), len(offered[-1])) == (5, 10)
    assert ("gone",) not in offered


async def test_no_group_has_more_rows_than_are_kept_at_all(steps: Log) -> None:
    for number in range(KEEP_ROWS + 20):
        await steps.did(str(number), group="g")
    (kept,) = await steps.offered()
    assert (len(kept), kept[-1]) == (KEEP_ROWS, str(KEEP_ROWS + 19))
