"""The outbox: a subscriber that replays and goes on misses nothing and gets nothing twice."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.clock import VirtualClock
from svc.nursery import ThreadPool
from svc.principal import AUTH_OFF, UNCLAIMED, Principal, system
from svc.store import (
    ADMINS,
    EVERYONE,
    Outbox,
    OutboxRow,
    Overflowed,
    Store,
    Subscription,
    Tx,
    newest,
    oldest_kept,
    prune,
    rows_after,
)
from svc.store.outbox import MAX_WAITING_ROWS
from tests.sizes import SHARES_FIXTURES, examples


def emit(tx: Tx, count: int = 1) -> None:
    for _ in range(count):
        tx.emit(topic="mail", kind="thread.changed", id="thr_1", payload={"unread": 2}, audience="usr_1")


def row(seq: int) -> OutboxRow:
    return OutboxRow(seq, 0, "mail", "thread.changed", "thr_1", b"{}", EVERYONE, None)


def member(user_id: str) -> Principal:
    return Principal(user_id=user_id, device_id="dev_1", is_admin=False, via="session")


def prune_to(tx: Tx, keep: int) -> int:
    return prune(tx, keep_ms=10**12, keep_rows=keep)


async def test_a_committed_row_reaches_subscribers_as_it_reads_from_the_table(store: Store) -> None:
    with store.outbox.subscribe() as live:
        await store.write(emit)
        (heard,) = await live.receive()
    assert await store.read(rows_after, 0, 10) == [heard]
    assert (heard.seq, heard.topic, heard.kind, heard.id) == (1, "mail", "thread.changed", "thr_1")
    assert (heard.payload, heard.audience, heard.device_id) == (b'{"unread":2}', "usr_1", None)


async def test_a_subscriber_hears_nothing_from_before_and_nothing_after_it_left(store: Store) -> None:
    await store.write(emit)
    with store.outbox.subscribe() as live:
        assert live.since == 1
        await store.write(emit)
        assert [heard.seq for heard in await live.receive()] == [2]
    await store.write(emit)
    with pytest.raises(trio.TooSlowError), trio.fail_after(0.01):
        await live.receive()


async def test_a_loop_is_woken_at_once_by_each_news_and_after_an_overflow(nursery: trio.Nursery) -> None:
    outbox, calls = Outbox(head=0), 0

    def wake() -> None:
        nonlocal calls
        calls += 1

    def is_news(row: OutboxRow) -> bool:
        return row.seq % 2 == 0

    nursery.start_soon(outbox.wake_on, is_news, wake)
    await trio.testing.wait_all_tasks_blocked()
    assert calls == 1  # what came before the subscription may have been news
    outbox.publish([row(1)])
    await trio.testing.wait_all_tasks_blocked()
    assert calls == 1
    outbox.publish([row(2), row(3), row(4)])
    await trio.testing.wait_all_tasks_blocked()
    assert calls == 2
    outbox.publish([row(seq) for seq in range(5, 5 + 2 * MAX_WAITING_ROWS, 2)])
    outbox.publish([row(2 * MAX_WAITING_ROWS + 5)])  # before the loop has taken the others
    await trio.testing.wait_all_tasks_blocked()
    assert (calls, outbox.listeners) == (3, 1)


async def test_a_slow_subscriber_overflows_and_never_holds_up_the_writer(store: Store) -> None:
    with store.outbox.subscribe(limit=3) as slow, store.outbox.subscribe(limit=4) as quick:
        await store.write(emit, 3)
        await store.write(emit)
        assert slow.overflowed
        assert len(await quick.receive()) == 4
        with pytest.raises(Overflowed):
            await slow.receive()


async def test_a_subscriber_that_holds_too_much_overflows_however_few_rows_it_is(store: Store) -> None:
    with store.outbox.subscribe(limit_bytes=1) as slow, store.outbox.subscribe(limit_bytes=1_000_000) as quick:
        await store.write(emit)
        await store.write(emit)
        assert slow.overflowed
        assert len(await quick.receive()) == 2


@pytest.mark.parametrize(
    ("audience", "principal", "sees"),
    [
        ("usr_1", member("usr_1"), True),
        ("usr_1", member("usr_2"), False),
        (EVERYONE, member("usr_2"), True),
        (None, member("usr_1"), False),
        (None, UNCLAIMED, True),
        ("usr_1", UNCLAIMED, True),
        ("usr_1", AUTH_OFF, True),
        ("usr_1", system("scheduler"), True),
        (EVERYONE, UNCLAIMED, True),
        (ADMINS, member("usr_2"), False),
        (ADMINS, Principal(user_id="usr_2", device_id="d", is_admin=True, via="session"), True),
        (ADMINS, UNCLAIMED, True),
    ],
)
def test_a_row_is_for_its_audience_and_for_who_sees_everything(
    audience: str | None, principal: Principal, sees: bool
) -> None:
    assert OutboxRow(1, 0, "mail", "thread.changed", "thr_1", b"{}", audience, None).visible_to(principal) is sees


async def test_one_large_commit_makes_nobody_slow(store: Store) -> None:
    with store.outbox.subscribe(limit=3) as live:
        await store.write(emit, 500)
        assert len(await live.receive()) == 500
        await store.write(emit)
        assert len(await live.receive()) == 1


async def test_a_waiting_subscriber_is_told_of_its_overflow() -> None:
    outbox = Outbox(head=0)
    told = trio.Event()

    async def listen(slow: Subscription) -> None:
        with pytest.raises(Overflowed):
            await slow.receive()
        told.set()

    async with trio.open_nursery() as nursery:
        with outbox.subscribe(limit=1) as slow:
            nursery.start_soon(listen, slow)
            await trio.testing.wait_all_tasks_blocked()
            outbox.publish([row(1)])
            outbox.publish([row(2)])
            await told.wait()


async def test_pruning_keeps_the_newest_rows_and_the_numbers_go_on(store: Store) -> None:
    await store.write(emit, 10)
    assert await store.write(prune_to, 4) == 6
    assert await store.read(oldest_kept) == 7
    assert await store.write(prune_to, 0) == 4
    assert await store.read(oldest_kept) == 11
    await store.write(emit)
    assert [kept.seq for kept in await store.read(rows_after, 0, 10)] == [11]


async def test_pruning_by_age_leaves_no_hole_when_the_clock_jumps(path: Path, threads: ThreadPool) -> None:
    clock = VirtualClock()
    store = Store.open(path, clock=clock, threads=threads)
    for offset in [0, 0, 10**9, 0, 0]:  # the third row says it comes from the future
        clock.offset_ms = offset
        store.write_now(emit)
    clock.offset_ms = 10**8
    store.write_now(prune, keep_ms=1_000, keep_rows=100)
    assert [kept.seq for kept in store.read_now(rows_after, 0, 10)] == [3, 4, 5]
    store.close_now()


async def test_the_head_survives_a_restart_after_everything_was_pruned(path: Path, threads: ThreadPool) -> None:
    store = Store.open(path, clock=VirtualClock(), threads=threads)
    store.write_now(emit, 5)
    store.write_now(prune_to, 0)
    store.close_now()
    store = Store.open(path, clock=VirtualClock(), threads=threads)
    assert store.outbox.head() == store.read_now(newest) == 5
    store.close_now()


async def follow(store: Store, after: int, target: int, page: int) -> list[int]:
    """What a reconnecting client does, and which numbers it sees until ``target``."""
    seen: list[int] = []
    with store.outbox.subscribe() as live:
        last = after
        while last < live.since:
            rows = await store.read(rows_after, last, page, upto=live.since)
            seen += [kept.seq for kept in rows]
            last = rows[-1].seq
        while last < target:
            rows = await live.receive()
            seen += [kept.seq for kept in rows]
            last = rows[-1].seq
    return seen


@settings(max_examples=examples(25), suppress_health_check=SHARES_FIXTURES)
@given(
    bursts=st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=8),
    readers=st.lists(st.tuples(st.integers(0, 6), st.integers(1, 5)), min_size=1, max_size=4),
)
def test_resuming_leaves_no_gap_and_repeats_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    bursts: list[tuple[int, bool]],
    readers: list[tuple[int, int]],
) -> None:
    before = 6
    total = before + sum(count for count, fails in bursts if not fails)
    seen: dict[int, list[int]] = {}

    def burst(tx: Tx, count: int, fails: bool) -> None:
        emit(tx, count)
        if fails:
            raise ValueError

    async def write(store: Store, count: int, fails: bool) -> None:
        try:
            await store.write(burst, count, fails)
        except ValueError:
            assert fails

    async def reader(store: Store, key: int, after: int, page: int) -> None:
        seen[key] = await follow(store, after, total, page)

    async def main() -> None:
        path = tmp_path_factory.mktemp("outbox") / "svc.sqlite3"
        store = Store.open(path, clock=VirtualClock(), threads=ThreadPool(limit=8, name="test"))
        store.write_now(emit, before)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(store.run_writer, started=lambda: None))
            async with trio.open_nursery() as people:
                for key, (after, page) in enumerate(readers):
                    people.start_soon(reader, store, key, after, page)
                for count, fails in bursts:
                    people.start_soon(write, store, count, fails)
            nursery.cancel_scope.cancel()
        store.close_now()

    trio.run(main)
    for key, (after, _) in enumerate(readers):
        assert seen[key] == list(range(after + 1, total + 1))
