"""Writes and reads: what is acknowledged is durable, a failed write leaves nothing, and others do not notice it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing
from sqlite_utils.migrations import Migrations

from svc.clock import VirtualClock
from svc.errors import Invalid, Unavailable
from svc.nursery import ThreadPool
from svc.store import CannotOpen, ReadTx, Store, Tx
from svc.store.connections import READER_CACHE_KIB
from svc.store.store import MAX_BATCH
from tests.store.conftest import NOTES

PAGE_BYTES = 4096


def add(tx: Tx, text: str) -> int:
    tx.run("insert into notes (text) values (:text)", text=text)
    tx.emit(topic="notes", kind="note.changed", id=text, audience="*")
    return int(tx.value("select id from notes where text = :text", text=text))


def add_and_refuse(tx: Tx, text: str) -> None:
    add(tx, text)
    raise Invalid("No.")


def texts(tx: ReadTx) -> list[str]:
    return [text for (text,) in tx.all("select text from notes order by id")]


def texts_on_disk(path: Path) -> list[str]:
    """What another program sees."""
    connection = sqlite3.connect(path)
    rows = connection.execute("select text from notes order by id").fetchall()
    connection.close()
    return [text for (text,) in rows]


def size_of(path: Path) -> int:
    return path.stat().st_size


def running(nursery: trio.Nursery, store: Store) -> None:
    nursery.start_soon(partial(store.run_writer, started=lambda: None))


async def test_a_write_returns_the_actions_value_once_it_is_committed(store: Store, path: Path) -> None:
    assert await store.write(add, "first") == 1
    assert texts_on_disk(path) == ["first"]


async def test_the_log_is_folded_in_on_demand_while_another_program_does_it_otherwise(store: Store, path: Path) -> None:
    await store.leave_checkpoints(to_another=True)
    before = size_of(path)
    await store.write(add, "long" * PAGE_BYTES)
    assert size_of(path) == before
    await store.fold_log()
    assert size_of(path) > before


async def test_a_read_sees_every_acknowledged_write(store: Store) -> None:
    for number in range(20):
        await store.write(add, f"{number}")
        assert len(await store.read(texts)) == number + 1


async def test_what_an_action_raises_comes_back_and_undoes_it(store: Store) -> None:
    with pytest.raises(Invalid, match="No"):
        await store.write(add_and_refuse, "never")
    assert await store.read(texts) == []
    assert store.outbox.head() == 0


async def test_a_failing_action_does_not_hurt_its_batch_neighbours(idle_store: Store) -> None:
    refused: list[str] = []

    async def one(number: int) -> None:
        if number % 3 == 0:
            with pytest.raises(Invalid):
                await idle_store.write(add_and_refuse, f"{number}")
            refused.append(f"{number}")
        else:
            await idle_store.write(add, f"{number}")

    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as callers:
            for number in range(12):
                callers.start_soon(one, number)
            await trio.testing.wait_all_tasks_blocked()
            running(nursery, idle_store)
        nursery.cancel_scope.cancel()
    kept = await idle_store.read(texts)
    assert sorted(kept) == sorted(f"{number}" for number in range(12) if number % 3)
    assert len(refused) == 4
    assert idle_store.outbox.head() == 8


async def test_everything_that_waits_shares_one_commit(idle_store: Store, path: Path) -> None:
    seen_inside: list[list[str]] = []

    def look(tx: Tx) -> None:
        seen_inside.append(texts_on_disk(path))

    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as callers:
            for number in range(5):
                callers.start_soon(idle_store.write, add, f"{number}")
            await trio.testing.wait_all_tasks_blocked()
            callers.start_soon(idle_store.write, look)
            await trio.testing.wait_all_tasks_blocked()
            running(nursery, idle_store)
        nursery.cancel_scope.cancel()
    assert seen_inside == [[]]  # the last of six: nothing of the others was visible yet
    assert len(texts_on_disk(path)) == 5


async def test_more_than_a_batch_is_committed_in_several(idle_store: Store, path: Path) -> None:
    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as callers:
            for number in range(3 * MAX_BATCH + 1):
                callers.start_soon(idle_store.write, add, f"{number}")
            running(nursery, idle_store)
        nursery.cancel_scope.cancel()
    assert len(texts_on_disk(path)) == 3 * MAX_BATCH + 1


async def test_callers_and_subscribers_hear_only_what_another_program_can_read(store: Store, path: Path) -> None:
    async def caller(number: int) -> None:
        await store.write(add, f"{number}")
        assert f"{number}" in texts_on_disk(path)

    async with trio.open_nursery() as callers:
        with store.outbox.subscribe() as live:
            for number in range(30):
                callers.start_soon(caller, number)
            heard = 0
            while heard < 30:
                rows = await live.receive()
                on_disk = set(texts_on_disk(path))
                assert all(row.id in on_disk for row in rows)
                heard += len(rows)


async def test_a_caller_cancelled_while_it_queues_takes_its_action_back(idle_store: Store) -> None:
    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as impatient:
            async with trio.open_nursery() as callers:
                callers.start_soon(idle_store.write, add, "cancelled")
                await trio.testing.wait_all_tasks_blocked()
                impatient.cancel()
        running(nursery, idle_store)
        await idle_store.write(add, "kept")
        nursery.cancel_scope.cancel()
    assert await idle_store.read(texts) == ["kept"]


async def test_a_taken_action_is_committed_although_its_caller_is_cancelled(store: Store) -> None:
    began, go_on = trio.Event(), trio.Event()
    token = trio.lowlevel.current_trio_token()

    def slow(tx: Tx) -> None:
        trio.from_thread.run_sync(began.set, trio_token=token)
        trio.from_thread.run(go_on.wait, trio_token=token)
        add(tx, "taken")

    async with trio.open_nursery() as nursery:
        with store.outbox.subscribe() as live:
            nursery.start_soon(store.write, slow)
            await began.wait()
            nursery.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                go_on.set()
                assert [row.id for row in await live.receive()] == ["taken"]
    assert await store.read(texts) == ["taken"]


async def test_a_stopped_writer_leaves_nobody_waiting(idle_store: Store) -> None:
    outcomes: list[str] = []

    async def caller(number: int) -> None:
        try:
            await idle_store.write(add, f"{number}")
        except Unavailable:
            outcomes.append("refused")

    async with trio.open_nursery() as callers, trio.open_nursery() as nursery:
        for number in range(3):
            callers.start_soon(caller, number)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
        running(nursery, idle_store)
    assert outcomes == ["refused"] * 3
    with pytest.raises(Unavailable):
        await idle_store.write(add, "late")
    assert await idle_store.read(texts) == []


async def test_now_is_the_time_the_write_was_asked_for(idle_store: Store, clock: trio.testing.MockClock) -> None:
    asked: list[int] = []

    async def caller() -> None:
        asked.append(await idle_store.write(lambda tx: tx.now))

    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as callers:
            first = idle_store.read_now(lambda tx: tx.now)
            callers.start_soon(caller)
            await trio.testing.wait_all_tasks_blocked()
            clock.jump(60)
            running(nursery, idle_store)
        nursery.cancel_scope.cancel()
    assert asked == [first]


async def test_a_savepoint_undoes_its_part_and_keeps_the_rest(store: Store) -> None:
    def page(tx: Tx) -> list[str]:
        failed = []
        for text in ["a", "b", "a", "c"]:
            try:
                with tx.savepoint():
                    add(tx, text)
                    if text == "b":
                        raise Invalid("No.")
            except Exception as error:
                failed.append(type(error).__name__)
        return failed

    with store.outbox.subscribe() as live:
        assert await store.write(page) == ["Invalid", "IntegrityError"]
        assert [(row.seq, row.id) for row in await live.receive()] == [(1, "a"), (2, "c")]
    assert await store.read(texts) == ["a", "c"]


async def test_savepoints_nest(store: Store) -> None:
    def nested(tx: Tx) -> None:
        with tx.savepoint():
            add(tx, "outer")
            with pytest.raises(Invalid), tx.savepoint():
                add_and_refuse(tx, "inner")

    await store.write(nested)
    assert await store.read(texts) == ["outer"]


async def test_an_action_that_ends_the_transaction_is_refused_and_the_next_ones_work(store: Store) -> None:
    def rogue(tx: Tx) -> None:
        add(tx, "undone")
        tx.run("rollback")

    with pytest.raises(Unavailable, match="lost"):
        await store.write(rogue)
    await store.write(add, "fine")
    assert await store.read(texts) == ["fine"]
    assert store.outbox.head() == 1


async def test_an_action_that_ends_the_transaction_by_failing_hears_why_and_its_neighbours_may_try_again(
    idle_store: Store,
) -> None:
    heard: dict[str, BaseException] = {}

    def rogue(tx: Tx, text: str) -> None:
        add(tx, text)
        tx.run("insert or rollback into notes (text) values (:text)", text=text)

    async def caller(action: Callable[[Tx, str], object], text: str) -> None:
        try:
            await idle_store.write(action, text)
        except Exception as error:
            heard[text] = error

    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as callers:
            for text, action in (("before", add), ("rogue", rogue), ("after", add)):
                callers.start_soon(caller, action, text)
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(partial(idle_store.run_writer, started=lambda: None))
        await idle_store.write(add, "later")
        nursery.cancel_scope.cancel()
    assert {text: type(error) for text, error in heard.items()} == {
        "before": Unavailable,
        "rogue": sqlite3.IntegrityError,
        "after": Unavailable,
    }
    assert await idle_store.read(texts) == ["later"]


async def test_a_reader_takes_its_settings_as_the_writer_does(store: Store) -> None:
    for pragma in ("trusted_schema", "cell_size_check", "foreign_keys"):
        statement = f"pragma {pragma}"
        here = await store.write(Tx.value, statement)
        assert await store.read(Tx.value, statement) == here, pragma
    assert await store.read(lambda tx: tx.value("pragma cache_size")) == -READER_CACHE_KIB


async def test_a_broken_foreign_key_is_refused(store: Store) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        await store.write(lambda tx: tx.run("insert into replies (note) values (77)"))


async def test_run_many_writes_each_row(store: Store) -> None:
    rows = [{"text": f"{number}"} for number in range(100)]
    await store.write(lambda tx: tx.run_many("insert into notes (text) values (:text)", rows))
    assert len(await store.read(texts)) == 100


async def test_a_query_reads_one_snapshot(store: Store) -> None:
    token = trio.lowlevel.current_trio_token()

    def twice(tx: ReadTx) -> tuple[list[str], list[str]]:
        before = texts(tx)
        trio.from_thread.run(store.write, add, "meanwhile", trio_token=token)
        return before, texts(tx)

    assert await store.read(twice) == ([], [])
    assert await store.read(texts) == ["meanwhile"]


async def test_a_query_cannot_write(store: Store) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await store.read(lambda tx: tx.all("insert into notes (text) values ('x') returning id"))
    assert await store.read(texts) == []


async def test_a_row_iterator_does_not_outlive_its_query(store: Store) -> None:
    await store.write(add, "a")
    leaked: Iterator[tuple[object, ...]] = await store.read(lambda tx: tx.each("select text from notes"))
    with pytest.raises(sqlite3.ProgrammingError):
        next(leaked)
    await store.write(add, "b")
    assert await store.read(texts) == ["a", "b"]  # the same connection: it has moved on to a new snapshot


async def test_more_readers_than_connections_take_turns(store: Store) -> None:
    await store.write(add, "a")
    seen: list[list[str]] = []

    async def reader() -> None:
        seen.append(await store.read(texts))

    async with trio.open_nursery() as nursery:
        for _ in range(40):
            nursery.start_soon(reader)
    assert seen == [["a"]] * 40


async def test_boot_and_commands_write_without_a_loop(idle_store: Store) -> None:
    assert idle_store.write_now(add, "seeded") == 1
    with pytest.raises(Invalid):
        idle_store.write_now(add_and_refuse, "never")
    assert idle_store.read_now(texts) == ["seeded"]
    assert idle_store.outbox.head() == 1


async def test_write_now_is_refused_while_the_writer_runs(store: Store) -> None:
    await store.write(add, "a")
    with pytest.raises(RuntimeError):
        store.write_now(add, "b")


async def test_an_event_record_has_a_growing_number_and_stays(store: Store) -> None:
    def record(tx: Tx) -> int:
        return tx.record(type="mail-received", payload={"subject": "Grüße"}, audience="usr_1", device_id="system:mail")

    assert [await store.write(record) for _ in range(3)] == [1, 2, 3]
    row = await store.read(lambda tx: tx.one("select type, payload, audience, device_id from events where seq = 2"))
    assert row == ("mail-received", '{"subject":"Grüße"}', "usr_1", "system:mail")


async def test_a_read_only_store_stands_beside_a_running_one(store: Store, path: Path, threads: ThreadPool) -> None:
    await store.write(add, "a")
    beside = Store.open(path, clock=VirtualClock(), threads=threads, migrations=[NOTES], read_only=True)
    assert await beside.read(texts) == ["a"]
    with pytest.raises(RuntimeError):
        beside.write_now(add, "b")
    beside.close_now()


async def test_a_read_only_store_does_not_migrate(store: Store, path: Path, threads: ThreadPool) -> None:
    later = Migrations("later")

    @later()
    def m001(db: object) -> None:
        raise AssertionError("must not run")

    with pytest.raises(CannotOpen, match=r"later\.m001"):
        Store.open(path, clock=VirtualClock(), threads=threads, migrations=[NOTES, later], read_only=True)


async def test_closing_folds_the_log_into_the_database(store: Store, path: Path, threads: ThreadPool) -> None:
    await store.write(add, "a")
    store.close_now()
    assert not path.with_name(path.name + "-wal").exists()
    reopened = Store.open(path, clock=VirtualClock(), threads=threads, migrations=[NOTES])
    assert await reopened.read(texts) == ["a"]
    assert reopened.outbox.head() == 1
    reopened.close_now()


async def test_an_untrusted_schema_still_lets_an_action_write_full_text_rows(idle_store: Store) -> None:
    def build(tx: Tx) -> None:
        tx.run("create virtual table notes_fts using fts5 (text, content='')")
        tx.run("insert into notes_fts (rowid, text) values (:id, 'hello world')", id=add(tx, "hello world"))

    idle_store.write_now(build)
    assert idle_store.read_now(lambda tx: tx.value("select rowid from notes_fts where notes_fts match 'hello'")) == 1
