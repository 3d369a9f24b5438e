"""Durable consumers: everything that was recorded is dealt with, in order, whatever fails or crashes in between."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest
import trio
import trio.lowlevel

from svc.clock import DAY_MS, VirtualClock
from svc.errors import Refusal, Unavailable
from svc.store import Consumer, Event, Following, ReadTx, Store, Tx, lags
from svc.store.consumers import BATCH, MAX_ATTEMPTS, cursor_of, register
from svc.store.following import LOOK_EVERY_S
from tests.recorded_log import RecordedLog

SOON_S = LOOK_EVERY_S / 30  # without news a consumer would look later

Handle = Callable[[list[str], Sequence[Event]], Awaitable[None]]


def record(tx: Tx, *words: str, type: str = "word-said") -> None:
    for word in words:
        tx.record(type=type, payload={"word": word}, audience=None, device_id="dev")


def words_of(events: Sequence[Event]) -> list[str]:
    return [event.payload.decode().split('"')[3] for event in events]


async def note(heard: list[str], events: Sequence[Event]) -> None:
    heard.extend(words_of(events))


def keep(tx: Tx, events: Sequence[Event]) -> None:
    for word in words_of(events):
        tx.run("insert into notes (text) values (:text)", text=word)


def hearing(handle: Handle = note, name: str = "hearing") -> Consumer[list[str]]:
    return Consumer(name=name, types=frozenset({"word-said"}), summary="Hears.", handle=handle)


def keeping(apply: Callable[[Tx, Sequence[Event]], None] = keep) -> Consumer[list[str]]:
    return Consumer(name="keeping", types=frozenset({"word-said"}), summary="Keeps.", apply=apply)


class Processes:
    """A store whose writer runs, and the consumers of one process after the other."""

    def __init__(self, store: Store, wall: VirtualClock, log: RecordedLog) -> None:
        self.store, self.wall, self.log = store, wall, log
        self.heard: list[str] = []

    def following(self, *rows: Consumer[list[str]]) -> Following[list[str]]:
        return Following(
            store=self.store, clock=self.wall, rng=random.Random(1), log=self.log, context=self.heard, rows=rows
        )

    @asynccontextmanager
    async def process(self, *rows: Consumer[list[str]]) -> AsyncIterator[Following[list[str]]]:
        """Ends as by ``kill -9``: nothing is awaited."""
        following = self.following(*rows)
        async with trio.open_nursery() as nursery:
            for row in rows:
                nursery.start_soon(following.follow, row)
            yield following
            nursery.cancel_scope.cancel()

    async def notes(self) -> list[str]:
        return await self.store.read(lambda tx: [text for (text,) in tx.all("select text from notes order by id")])


@pytest.fixture
async def processes(store: Store, wall: VirtualClock, log: RecordedLog) -> Processes:
    await store.write(register, names=["hearing", "keeping"])
    return Processes(store, wall, log)


async def test_a_consumer_is_handed_what_is_recorded_soon_after_it_was(processes: Processes) -> None:
    async with processes.process(hearing()):
        await processes.store.write(record, "one", "two")
        await trio.sleep(SOON_S)
        assert processes.heard == ["one", "two"]


async def test_what_was_recorded_while_no_process_ran_is_handed_over_later_in_order(processes: Processes) -> None:
    expected = [f"word {number}" for number in range(BATCH * 2 + 1)]
    await processes.store.write(record, *expected)
    await processes.following(hearing()).catch_up("hearing")
    assert processes.heard == expected


async def test_a_consumer_hears_only_its_types(processes: Processes) -> None:
    await processes.store.write(record, "wrong", type="word-thought")
    await processes.store.write(record, "right")
    await processes.following(hearing()).catch_up("hearing")
    assert processes.heard == ["right"]


async def test_a_new_consumer_follows_what_comes_not_what_was(
    store: Store, wall: VirtualClock, log: RecordedLog
) -> None:
    processes = Processes(store, wall, log)
    await store.write(record, "before")
    await store.write(register, names=["hearing"])
    await store.write(record, "after")
    await store.write(register, names=["hearing"])  # the next boot moves no cursor
    await processes.following(hearing()).catch_up("hearing")
    assert processes.heard == ["after"]


async def test_what_was_handed_over_when_the_process_died_comes_again_under_the_same_key(processes: Processes) -> None:
    keys: list[str] = []

    async def die(heard: list[str], events: Sequence[Event]) -> None:
        keys.extend(event.key for event in events)
        await trio.sleep_forever()

    await processes.store.write(record, "one")
    async with processes.process(hearing(die)):
        await trio.sleep(SOON_S)
    async with processes.process(hearing(die)):
        await trio.sleep(SOON_S)
    assert len(keys) == 2
    assert len(set(keys)) == 1


async def test_what_is_applied_in_the_cursors_transaction_happens_once_however_often_the_process_dies(
    processes: Processes,
) -> None:
    for number in range(5):
        await processes.store.write(record, f"word {number}")
        async with processes.process(keeping()):
            await trio.lowlevel.checkpoint()  # somewhere on the way
    await processes.following(keeping()).catch_up("keeping")
    assert await processes.notes() == [f"word {number}" for number in range(5)]


async def test_one_event_that_always_fails_is_passed_over_on_record_and_takes_no_neighbour_with_it(
    processes: Processes,
) -> None:
    tried: list[str] = []

    def stumble(tx: Tx, events: Sequence[Event]) -> None:
        tried.extend(words_of(events))
        keep(tx, events)
        if "bad" in words_of(events):
            raise ValueError("bad word")

    await processes.store.write(record, "one", "bad", "two")
    async with processes.process(keeping(stumble)):
        await trio.sleep(3 * 3600)
    assert await processes.notes() == ["one", "two"]
    assert tried.count("bad") == MAX_ATTEMPTS + 1  # once with its neighbours, and then alone
    rows = await processes.store.read(lambda tx: tx.all("select name, reason from consumer_failures"))
    assert rows == [("keeping", "ValueError: bad word")]


async def test_pauses_after_failures_grow_and_news_does_not_shorten_them(processes: Processes) -> None:
    times: list[float] = []

    async def fail(heard: list[str], events: Sequence[Event]) -> None:
        times.append(trio.current_time())
        raise ValueError("no")

    await processes.store.write(record, "one")
    async with processes.process(hearing(fail)):
        while len(times) < MAX_ATTEMPTS:
            await trio.sleep(1)
            await processes.store.write(record, "noise", type="word-said")
    pauses = [later - earlier for earlier, later in pairwise(times[1:])]
    assert all(0.5 * 2**n <= pause <= 2.0**n + 1 for n, pause in enumerate(pauses[: MAX_ATTEMPTS - 2]))


@pytest.mark.thorough
@pytest.mark.parametrize("fault", [Unavailable("away"), Refusal("full", code="insufficient_storage")])
async def test_no_event_is_passed_over_for_what_is_not_its_fault(processes: Processes, fault: Refusal) -> None:
    attempts = 0

    async def away(heard: list[str], events: Sequence[Event]) -> None:
        nonlocal attempts
        attempts += 1
        if attempts <= MAX_ATTEMPTS * 2:
            raise fault
        await note(heard, events)

    await processes.store.write(record, "one")
    async with processes.process(hearing(away)):
        await trio.sleep(24 * 3600)
    assert processes.heard == ["one"]


async def test_a_wall_clock_that_jumps_back_holds_up_no_retry(processes: Processes) -> None:
    attempts = 0

    async def thrice(heard: list[str], events: Sequence[Event]) -> None:
        nonlocal attempts
        attempts += 1
        if attempts < 3:
            raise ValueError("not yet")
        await note(heard, events)

    async with processes.process(hearing(thrice)):
        await processes.store.write(record, "one")
        await trio.sleep(SOON_S)
        processes.wall.offset_ms -= 10 * 365 * DAY_MS
        await trio.sleep(60)
    assert processes.heard == ["one"]


async def test_two_loops_of_one_consumer_hand_nothing_over_twice(processes: Processes) -> None:
    async with processes.process(hearing()) as following:
        await processes.store.write(record, "one")
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(following.catch_up, "hearing")
    assert processes.heard == ["one"]


async def test_the_lag_counts_what_waits_and_what_was_passed_over(processes: Processes) -> None:
    def lag(tx: ReadTx) -> tuple[int, int]:
        (one,) = lags(tx, [hearing()])
        return one.events, one.passed_over

    await processes.store.write(record, "one", "two")
    assert await processes.store.read(lag) == (2, 0)
    await processes.following(hearing()).catch_up("hearing")
    assert await processes.store.read(lag) == (0, 0)
    assert (await processes.store.read(cursor_of, "hearing")).seq == 2


def test_a_consumer_needs_one_way_to_deal_with_events() -> None:
    with pytest.raises(ValueError, match="either apply or handle"):
        Consumer(name="idle", types=frozenset(), summary="Does nothing.")
