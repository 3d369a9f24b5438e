"""Small reads on the event loop: they see what was acknowledged, and what turns out to be large goes to a thread."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from threading import get_ident

import pytest
import trio

from svc.clock import VirtualClock
from svc.nursery import ThreadPool
from svc.store import ReadTx, Store
from svc.store.loop_reader import KEPT_RESULTS, STEPS_MAX
from tests.cancel_everywhere import Interrupted, cancel_everywhere
from tests.store.conftest import NOTES
from tests.store.test_store import add, texts

COUNT = "with recursive n(i) as (select 1 union all select i + 1 from n where i < {}) select max(i) from n"


def count(tx: ReadTx, upto: int) -> tuple[int, int]:
    """``upto``, in some ten steps each, and in which thread."""
    return int(tx.value(COUNT.format(upto))), get_ident()


async def test_it_runs_on_the_loop_and_sees_every_acknowledged_write(store: Store) -> None:
    for number in range(20):
        await store.write(add, f"{number}")
        found, thread = await store.read_small(lambda tx: (texts(tx), get_ident()))
        assert (len(found), thread) == (number + 1, get_ident())


async def test_what_takes_too_many_steps_is_asked_again_in_a_thread(store: Store) -> None:
    upto, thread = await store.read_small(count, STEPS_MAX)
    assert upto == STEPS_MAX
    assert thread != get_ident()
    assert await store.read_small(count, 100) == (100, get_ident())  # the loop's connection is as good as before


async def test_many_statements_of_one_read_share_its_budget(store: Store) -> None:
    def many(tx: ReadTx) -> int:
        for _ in range(100):
            tx.value(COUNT.format(STEPS_MAX // 100))
        return get_ident()

    assert await store.read_small(many) != get_ident()


async def test_it_waits_for_no_lock(store: Store) -> None:
    """Where another program holds the database, a thread waits, and the loop does not."""
    assert await store.read_small(lambda tx: tx.value("pragma busy_timeout")) == 0
    assert await store.read(lambda tx: tx.value("pragma busy_timeout")) > 0


async def test_a_query_that_fails_breaks_none_that_waits_for_its_turn(store: Store) -> None:
    await store.write(add, "a")
    assert await store.read_small(texts) == ["a"]
    found: list[list[str]] = []

    async def fail() -> None:
        with pytest.raises(sqlite3.OperationalError):
            await store.read_small(lambda tx: tx.all("select * from nowhere"))

    async def ask() -> None:
        found.append(await store.read_small(texts))
        found.append(await store.read_kept("texts", texts))

    async with trio.open_nursery() as nursery:
        for task in (fail, ask) * 10:
            nursery.start_soon(task)
    assert found == [["a"]] * 20


async def test_what_the_query_raises_comes_back_and_the_next_one_works(store: Store) -> None:
    def refuses(tx: ReadTx) -> None:
        texts(tx)
        raise LookupError("nothing there")

    await store.write(add, "a")
    with pytest.raises(LookupError):
        await store.read_small(refuses)
    with pytest.raises(sqlite3.OperationalError):
        await store.read_small(lambda tx: tx.all("select * from nowhere"))
    await store.write(add, "b")
    assert await store.read_small(texts) == ["a", "b"]


async def test_what_is_kept_is_as_new_as_the_last_commit_of_anybody(store: Store) -> None:
    asked = 0

    def counted(tx: ReadTx) -> list[str]:
        nonlocal asked
        asked += 1
        return texts(tx)

    for number in range(5):
        await store.write(add, f"{number}")
        for _ in range(3):
            assert len(await store.read_kept("texts", counted)) == number + 1
    assert asked == 5
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("insert into notes (text) values ('by another program')")
    assert len(await store.read_kept("texts", counted)) == 6
    assert await store.read_kept("how many", lambda tx: len(texts(tx))) == 6
    for number in range(2 * KEPT_RESULTS):
        await store.read_kept(number, counted)
    assert asked == 6 + 2 * KEPT_RESULTS
    await store.read_kept(2 * KEPT_RESULTS - 1, counted)
    assert asked == 6 + 2 * KEPT_RESULTS
    await store.read_kept(0, counted)
    assert asked == 7 + 2 * KEPT_RESULTS


async def test_what_is_kept_may_not_depend_on_the_time_and_what_is_long_goes_to_a_thread(store: Store) -> None:
    with pytest.raises(AttributeError):
        await store.read_kept("now", lambda tx: tx.now)
    for _ in range(2):
        _, thread = await store.read_kept("long", lambda tx: count(tx, STEPS_MAX))
        assert thread != get_ident()
    assert await store.read_kept("short", lambda tx: count(tx, 100)) == (100, get_ident())


async def test_one_statement_is_walked_several_times_at_once(store: Store) -> None:
    for text in "abc":
        await store.write(add, text)

    def merged(tx: ReadTx) -> list[list[str]]:
        walks = [tx.each("select text from notes where text >= :first order by text", first=one) for one in "abc"]
        return [[str(text) for (text,) in walk] for walk in reversed(walks)]

    assert await store.read_small(merged) == [["c"], ["b", "c"], ["a", "b", "c"]]


async def test_it_cannot_write(store: Store) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await store.read_small(lambda tx: tx.all("insert into notes (text) values ('x') returning id"))


async def test_an_iterator_does_not_keep_the_old_snapshot(store: Store) -> None:
    await store.write(add, "a")
    await store.read_small(lambda tx: tx.each("select text from notes"))
    await store.write(add, "b")
    assert await store.read_small(texts) == ["a", "b"]


async def test_those_who_ask_first_open_one_connection(store: Store) -> None:
    found: list[list[str]] = []

    async def ask() -> None:
        found.append(await store.read_small(texts))

    await store.write(add, "a")
    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(ask)
    assert found == [["a"]] * 10


async def test_cancelled_anywhere_the_next_one_works(path: Path, threads: ThreadPool) -> None:
    store = Store.open(path, clock=VirtualClock(), threads=threads, migrations=[NOTES])
    store.write_now(add, "a")

    async def attempt(run: Interrupted) -> None:
        await run(store.read_small, count, STEPS_MAX)
        assert await store.read_small(texts) == ["a"]

    assert await cancel_everywhere(attempt) >= 3
    store.close_now()
