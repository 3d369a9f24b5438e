"""Statistics for the query planner: gathered while the service runs, and used by every reader from then on."""

from __future__ import annotations

from threading import Event

import trio

from svc.store import ReadTx, Store, Tx
from svc.store.connections import ANALYSED_ROWS
from svc.store.statistics import COUNTED_ROWS

MANY = 5_000


def fill(tx: Tx) -> None:
    """Many notes, and a few replies."""
    tx.run_many("insert into notes (id, text) values (:id, 'note ' || :id)", [{"id": one} for one in range(MANY)])
    tx.run_many("insert into replies (id, note) values (:id, :id)", [{"id": one} for one in range(3)])


def first_read(tx: ReadTx) -> str:
    """The table that a query begins with: the smaller one, if their sizes are known."""
    return str(tx.all("explain query plan select * from notes, replies where replies.id = notes.id")[0][3])


async def test_every_reader_uses_them_also_one_that_reads_meanwhile(store: Store) -> None:
    begun, ended = trio.Event(), Event()

    def long_read(tx: ReadTx) -> str:
        plan = first_read(tx)
        trio.from_thread.run_sync(begun.set)
        ended.wait()
        return plan

    await store.write(fill)
    assert await store.read_small(first_read) == "SCAN notes"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(store.read, long_read)
        await begun.wait()
        assert await store.read(first_read) == "SCAN notes"
        assert await store.analyse()
        ended.set()
    assert await store.read_small(first_read) == "SCAN replies"
    assert [await store.read(first_read) for _ in range(3)] == ["SCAN replies"] * 3


async def test_nothing_is_written_while_nothing_changes(store: Store) -> None:
    await store.write(fill)
    assert await store.analyse()
    assert not await store.analyse()
    await store.write(lambda tx: tx.run("delete from replies"))
    assert await store.analyse()


async def test_they_come_from_a_sample(store: Store) -> None:
    assert await store.write(lambda tx: tx.value("pragma analysis_limit")) == ANALYSED_ROWS


async def test_a_large_table_without_an_index_is_not_read_to_count_its_rows(store: Store) -> None:
    def grow(tx: Tx, first: int, last: int) -> None:
        tx.run_many("insert into notes (id, text) values (:id, :id)", [{"id": one} for one in range(first, last)])
        tx.run_many("insert into replies (id, note) values (:id, :id)", [{"id": one} for one in range(first, last)])

    def counted(tx: ReadTx) -> set[str]:
        return {str(table) for (table,) in tx.all("select tbl from sqlite_stat1 where tbl in ('notes', 'replies')")}

    await store.write(grow, 0, COUNTED_ROWS)
    assert await store.analyse()
    assert await store.read(counted) == {"notes", "replies"}
    assert await store.read(lambda tx: tx.value("select stat from sqlite_stat1 where tbl = 'replies'")) == "1000"
    await store.write(grow, COUNTED_ROWS, COUNTED_ROWS + 1)
    assert await store.analyse()
    assert await store.read(counted) == {"notes"}


async def test_small_reads_go_on_while_their_connection_is_opened_again(store: Store) -> None:
    async def read() -> None:
        for _ in range(50):
            await store.read_small(first_read)

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(read)
        for _ in range(10):
            await store.write(lambda tx: tx.run("insert into notes (text) values (hex(randomblob(8)))"))
            assert await store.analyse()
