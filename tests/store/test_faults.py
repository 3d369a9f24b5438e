"""Real faults under the store: a full disk, a failing one, a foreign lock, damaged files."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing

from svc.clock import VirtualClock, WallClock
from svc.errors import Refusal
from svc.nursery import ThreadPool
from svc.store import Blobs, CannotOpen, CorruptDatabase, Invariant, ReadTx, Store, StoreBroken, Tx, run_fsck
from svc.store.faults import fault_of
from svc.store.store import FULL_FOR_MS
from tests.full_disk import files_end_at, limit_pages, on_a_small_disk
from tests.store.conftest import NOTES

PAGE_BYTES = 4096
BIG = "x" * 200_000


def add(tx: Tx, text: str) -> None:
    tx.run("insert into notes (text) values (:text)", text=text)


def count(tx: ReadTx) -> int:
    return int(tx.value("select count(*) from notes"))


async def test_a_full_disk_refuses_the_whole_batch_and_later_writes_work_again(idle_store: Store, path: Path) -> None:
    idle_store.write_now(limit_pages, 8)
    refused: list[str] = []

    async def caller(text: str) -> None:
        try:
            await idle_store.write(add, text)
        except Refusal as refusal:
            refused.append(refusal.code)

    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as callers:
            for text in ["small", BIG, "other"]:
                callers.start_soon(caller, text)
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(partial(idle_store.run_writer, started=lambda: None))
        assert refused == ["insufficient_storage"] * 3
        assert await idle_store.read(count) == 0
        await idle_store.write(add, "small")
        await idle_store.write(limit_pages, None)
        await idle_store.write(add, BIG)
        assert await idle_store.read(count) == 2
        assert not idle_store.broken
        nursery.cancel_scope.cancel()
    assert sqlite3.connect(path).execute("pragma integrity_check").fetchall() == [("ok",)]


async def test_an_action_that_swallows_a_full_disk_saves_nothing_all_the_same(store: Store) -> None:
    def ledger(tx: Tx) -> None:
        add(tx, "before")
        try:
            with tx.savepoint():
                add(tx, BIG)
        except Exception:
            add(tx, "recorded as failed")

    await store.write(limit_pages, 8)
    with pytest.raises(Refusal) as refusal:
        await store.write(ledger)
    assert refusal.value.code == "insufficient_storage"
    assert await store.read(count) == 0


async def test_a_failing_disk_stops_every_acknowledgement_for_good(idle_store: Store, path: Path) -> None:
    stopped: list[StoreBroken] = []

    async def writer() -> None:
        try:
            await idle_store.run_writer(started=lambda: None)
        except StoreBroken as error:
            stopped.append(error)

    idle_store.write_now(add, "before")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(writer)
        size = path.with_name(path.name + "-wal").stat().st_size
        with files_end_at(size + PAGE_BYTES), pytest.raises(StoreBroken):
            await idle_store.write(add, BIG)
    with pytest.raises(StoreBroken):
        await idle_store.write(add, "after")
    assert len(stopped) == 1
    assert idle_store.broken
    assert await idle_store.read(count) == 1


async def test_those_who_queue_when_the_disk_fails_are_not_acknowledged(idle_store: Store, path: Path) -> None:
    outcomes: list[str] = []

    async def caller() -> None:
        try:
            await idle_store.write(add, "queued")
        except StoreBroken:
            outcomes.append("broken")

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(caller)
        await trio.testing.wait_all_tasks_blocked()
        idle_store.fail(StoreBroken("the blobs say so"))
        with pytest.raises(StoreBroken, match="the blobs say so"):
            await idle_store.run_writer(started=lambda: None)
    assert outcomes == ["broken"] * 3
    assert await idle_store.read(count) == 0


async def test_the_first_fault_of_a_disk_is_the_one_that_is_told(idle_store: Store) -> None:
    idle_store.fail(StoreBroken("the first"))
    idle_store.fail(StoreBroken("the second"))
    with pytest.raises(StoreBroken, match="the first"):
        await idle_store.run_writer(started=lambda: None)


def test_a_fault_of_a_disk_is_one_wherever_it_is_met() -> None:
    assert fault_of(StoreBroken("the blobs' disk failed")) == "broken"
    assert fault_of(ValueError("an action's own")) is None
    assert fault_of(None) is None


async def test_a_disk_counts_as_full_for_a_while_and_not_before_it_was(path: Path, threads: ThreadPool) -> None:
    wall = VirtualClock()
    store = Store.open(path, clock=wall, threads=threads, migrations=[NOTES])
    try:
        full_before = store.full
        store.write_now(limit_pages, 8)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(store.run_writer, started=lambda: None))
            with pytest.raises(Refusal):
                await store.write(add, BIG)
            nursery.cancel_scope.cancel()
        assert (full_before, store.full) == (False, True)
        for offset_ms, full in ((FULL_FOR_MS - 1, True), (FULL_FOR_MS, False), (-1, False)):
            wall.offset_ms = offset_ms
            assert store.full is full, offset_ms
    finally:
        store.close_now()


async def test_another_programs_lock_is_waited_for(store: Store, path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin immediate")
    done = trio.Event()

    async def caller() -> None:
        await store.write(add, "patient")
        done.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(caller)
        for _ in range(50):
            await store.read(count)  # readers are not held up
        assert not done.is_set()
        other.execute("commit")
    other.close()
    assert await store.read(count) == 1


def test_a_lock_that_stays_is_an_answer_to_try_again_not_a_broken_store() -> None:
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY_SNAPSHOT
    assert fault_of(error) == "locked"


@pytest.mark.parametrize(
    "content", [b"hello, this is a text file\n" * 400, b"SQLite format 3\0" + b"\xff" * 8000, b"x"]
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path, threads: ThreadPool, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(CorruptDatabase, match="Nothing was changed"):
        Store.open(path, clock=VirtualClock(), threads=threads)
    assert path.read_bytes() == content


def test_an_emptied_database_with_a_log_is_refused_and_its_log_kept(path: Path, threads: ThreadPool) -> None:
    path.write_bytes(b"")
    log = path.with_name(path.name + "-wal")
    log.write_bytes(b"precious")
    with pytest.raises(CorruptDatabase):
        Store.open(path, clock=VirtualClock(), threads=threads)
    assert log.read_bytes() == b"precious"


def test_damage_in_any_page_is_never_overwritten_by_opening(path: Path, threads: ThreadPool) -> None:
    store = Store.open(path, clock=WallClock(), threads=threads, migrations=[NOTES])
    for number in range(60):
        store.write_now(add, f"{number} " + "y" * 500)
    store.close_now()
    whole = path.read_bytes()
    refused = 0
    for page in range(len(whole) // PAGE_BYTES):
        start = page * PAGE_BYTES
        damaged = whole[:start] + b"\xaa" * PAGE_BYTES + whole[start + PAGE_BYTES :]
        path.write_bytes(damaged)
        try:
            Store.open(path, clock=WallClock(), threads=threads, migrations=[NOTES]).close_now()
        except CorruptDatabase:
            refused += 1
            assert path.read_bytes() == damaged
    assert refused == len(whole) // PAGE_BYTES


@pytest.mark.parametrize("content", [b"hello, this is a text file", b"SQLite format 3\0" + b"\xff" * 8000])
def test_who_only_reads_a_damaged_database_hears_it_as_clearly(path: Path, threads: ThreadPool, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(CorruptDatabase):
        Store.open(path, clock=WallClock(), threads=threads, read_only=True)


# Writes as fast as it can, and says what was acknowledged.
WRITES_UNTIL_KILLED = """
import sys, trio
from functools import partial
from pathlib import Path
from svc.clock import WallClock
from svc.store import Blobs, Store

class Threads:
    async def run(self, fn, *args):
        return await trio.to_thread.run_sync(fn, *args)

def keep(tx, sha256):
    tx.record(type="kept", payload={"sha256": sha256}, audience=None, device_id="test")
    tx.emit(topic="test", kind="kept", id=sha256, audience=None)

async def produce(store, blobs, name):
    for number in range(100_000):
        ref = await blobs.put(f"{name} {number}".encode())
        await store.write(keep, ref.sha256)
        print(ref.sha256, flush=True)

async def main(home):
    store = Store.open(home / "svc.sqlite3", clock=WallClock(), threads=Threads())
    blobs = Blobs.open(home / "blobs", threads=Threads(), on_broken=store.fail)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(store.run_writer, started=lambda: None))
        for name in range(8):
            nursery.start_soon(produce, store, blobs, name)

trio.run(main, Path(sys.argv[1]))
"""


@pytest.mark.thorough
@pytest.mark.parametrize("after", [1, 40, 90])
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, threads: ThreadPool, after: int) -> None:
    command = [sys.executable, "-c", WRITES_UNTIL_KILLED, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        acknowledged = [process.stdout.readline().strip() for _ in range(after)]
        process.kill()
        acknowledged += [line.strip() for line in process.stdout if len(line) == 65]
    store = Store.open(tmp_path / "svc.sqlite3", clock=WallClock(), threads=threads)
    blobs = Blobs.open(tmp_path / "blobs", threads=threads)
    kept = {sha for (sha,) in store.read_now(lambda tx: tx.all("select json_extract(payload, '$.sha256') from events"))}
    told = {ref for (ref,) in store.read_now(lambda tx: tx.all("select ref from outbox"))}
    bodies = Invariant(name="bodies", check=lambda tx: sorted(kept), yields="blobs")
    assert kept == told >= set(acknowledged)
    assert store.read_now(run_fsck, invariants=[bodies], blobs=blobs, secrets=None, deep=True) == []
    store.close_now()


def test_a_database_in_a_missing_directory_is_a_clear_refusal(tmp_path: Path, threads: ThreadPool) -> None:
    with pytest.raises(CannotOpen, match="can't be opened"):
        Store.open(tmp_path / "missing" / "svc.sqlite3", clock=WallClock(), threads=threads)


SHUT_BY_ITS_DISK = """
import subprocess, sys
from contextlib import suppress
from pathlib import Path
from svc.store import CannotOpen
from svc.store.connections import open_reader, open_writer

def tell():
    for opener in (open_reader, open_writer):
        try:
            opener(path).close()
        except CannotOpen as fault:
            print(fault)

folder = Path(sys.argv[1])
path = folder / "svc.sqlite3"
open_writer(path).close()
with suppress(OSError):
    (folder / "more").write_bytes(bytes(2**20))
tell()
(folder / "more").unlink()
for left in folder.glob("svc.sqlite3-*"):
    left.unlink()
subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
tell()
"""


def test_a_database_that_its_disk_keeps_shut_says_what_to_do(tmp_path: Path) -> None:
    said = on_a_small_disk(SHUT_BY_ITS_DISK, tmp_path, megabytes=1).splitlines()
    remedies = ["the disk is full; make room"] * 2 + ["its folder must be writable"] * 2
    assert len(said) == len(remedies), said
    assert all(remedy in line for remedy, line in zip(remedies, said, strict=True)), said
