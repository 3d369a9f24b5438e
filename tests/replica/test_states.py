"""Blobs are named, forgotten and interrupted in any order: what is named gets there, and nothing is deleted early."""

from __future__ import annotations

import hashlib
import random
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import hypothesis.strategies as st
import pytest
import trio
from hypothesis import given, settings
from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from svc.clock import DAY_MS, HOUR_MS, Millis, VirtualClock
from svc.nursery import ThreadPool
from svc.protocol.egress import Egress
from svc.replica import Replicator, Target, is_complete, keep_since, pending
from svc.replica import rows as replica_rows
from svc.replica.invariants import INVARIANTS
from svc.replica.migrations import MIGRATIONS
from svc.store import BlobRef, Blobs, Invariant, ReadTx, Store
from tests.recorded_log import RecordedLog
from tests.sizes import examples

CONTENTS: Final = (b"one", b"two", b"three")
NAMES: Final = tuple(hashlib.sha256(content).hexdigest() for content in CONTENTS)
WEEK_MS: Final = 7 * DAY_MS
NAMING: Final = Migrations("naming")


@NAMING()
def m001_naming(db: Database) -> None:
    """As much of the tables of others as the triggers look at."""
    db.executescript(
        """
        create table files (sha256 text not null) strict;
        create table deleted_files (sha256 text not null) strict;
        create table mail_messages (body_sha256 text, raw_sha256 text) strict;
        create table mail_outgoing (raw_sha256 text, quoted text) strict;
        """
    )


def references(tx: ReadTx) -> Iterable[str]:
    return [sha256 for (sha256,) in tx.all("select sha256 from files")]


class Crash(BaseException):
    """The process is gone."""


@dataclass(frozen=True, kw_only=True)
class Memory(Target):
    """A target of this test. ``dies`` counts down to a crash, before or after the step that it comes to."""

    held: dict[str, Millis] = field(default_factory=dict)
    tombstones: dict[str, Millis] = field(default_factory=dict)
    dies: list[int] = field(default_factory=list)
    clock: VirtualClock

    async def put(self, blobs: Blobs, ref: BlobRef) -> None:
        self._step()
        self.held.setdefault(ref.sha256, self.clock.now())
        self._step()

    async def bury(self, sha256: str) -> None:
        self._step()
        self.tombstones[sha256] = self.clock.now()
        self._step()

    async def unbury(self, sha256: str) -> None:
        self._step()
        self.tombstones.pop(sha256, None)

    async def buried_for_ms(self, sha256: str) -> Millis | None:
        if sha256 not in self.tombstones:
            raise LookupError
        return self.clock.now() - self.tombstones[sha256]

    async def delete(self, sha256: str) -> None:
        self._step()
        if sha256 in self.held:
            assert self.clock.now() - self.tombstones[sha256] >= WEEK_MS
        self.held.pop(sha256, None)
        self._step()
        self.tombstones.pop(sha256, None)

    async def has(self, sha256: str, *, size: int | None = None) -> bool:
        there = len(CONTENTS[NAMES.index(sha256)])
        return sha256 in self.held and size in {None, there}

    async def is_sound(self, sha256: str) -> bool:
        return sha256 in self.held

    def _step(self) -> None:
        if self.dies:
            self.dies[0] -= 1
            if self.dies[0] < 0:
                self.dies.clear()
                raise Crash


@dataclass
class ReplicatedStore:
    store: Store
    target: Memory
    replicator: Replicator
    clock: VirtualClock
    named: set[str] = field(default_factory=set)
    pinned: set[str] = field(default_factory=set)
    furthest_ms: int = 0

    async def do(self, what: tuple[str, int]) -> None:
        word, number = what
        name = NAMES[number % len(NAMES)]
        if word == "name":
            self.named.add(name)
            await self.store.write(lambda tx: tx.run("insert into files (sha256) values (:name)", name=name))
        elif word == "forget":
            self.named.discard(name)
            await self.store.write(lambda tx: tx.run("delete from files where sha256 = :name", name=name))
        elif word == "wait":
            self.clock.offset_ms += number * 20 * HOUR_MS
        elif word == "back":
            self.clock.offset_ms -= number * 10 * HOUR_MS
        elif word == "keep":
            await self._keep()
        else:
            await self._work(word, number)
        self.furthest_ms = max(self.furthest_ms, self.clock.offset_ms)
        assert self.pinned <= self.target.held.keys()
        held = await self.store.read(lambda tx: tx.all("select sha256 from replica_blobs where state = 'held'"))
        assert {sha256 for (sha256,) in held} <= self.target.held.keys()

    async def _keep(self) -> None:
        """One recovery point, in place of the one before. There is none of a moment at which something is missing."""
        if await self.store.read(is_complete):
            self.pinned = set(self.named)
            await self.store.write(keep_since, self.clock.now())

    async def _work(self, word: str, number: int) -> None:
        if word.startswith("dying"):
            self.target.dies[:] = [number]
        try:
            if word.endswith("sweep"):
                await self.replicator.full_check()
            else:
                await self.replicator.upload(self.target)
        except* Crash:
            pass
        if word.startswith("dying"):
            await self.store.write(replica_rows.begin, "there")  # the next process
        self.target.dies.clear()


words = st.sampled_from(
    ["name", "forget", "wait", "back", "keep", "upload", "sweep", "dying upload", "dying sweep", "forget", "wait"]
)


@pytest.mark.thorough
@settings(max_examples=examples(25))
@given(st.lists(st.tuples(words, st.integers(0, 12)), max_size=30))
async def test_what_is_named_gets_there_and_nothing_goes_before_its_time(steps: list[tuple[str, int]]) -> None:
    with TemporaryDirectory() as directory:
        await _live(Path(directory), steps)


async def _live(directory: Path, steps: list[tuple[str, int]]) -> None:
    async with replicated_store(directory) as replica:
        for step in steps:
            await replica.do(step)
        await _ends_well(replica)


async def _ends_well(replica: ReplicatedStore) -> None:
    replica.clock.offset_ms = replica.furthest_ms + 2 * DAY_MS
    await replica.replicator.full_check()
    await replica.replicator.upload(replica.target)
    assert await replica.store.read(pending) == 0
    assert replica.named | replica.pinned <= replica.target.held.keys()
    await replica.store.write(keep_since, None)
    for _ in range(3):  # a tombstone, its week, and one night more for what a crash left in between
        replica.clock.offset_ms += WEEK_MS + DAY_MS
        await replica.replicator.full_check()
    assert replica.target.held.keys() == replica.named
    assert not replica.target.tombstones


@asynccontextmanager
async def replicated_store(directory: Path) -> AsyncIterator[ReplicatedStore]:
    clock, threads = VirtualClock(), ThreadPool(limit=4, name="test")
    store = Store.open(directory / "db", clock=clock, threads=threads, migrations=[NAMING, MIGRATIONS])
    blobs = Blobs.open(directory / "blobs", threads=threads)
    await blobs.put_all(CONTENTS)
    async with trio.open_nursery() as nursery, Egress() as egress:
        nursery.start_soon(partial(store.run_writer, started=lambda: None))
        await store.write(replica_rows.begin, "there")
        target = Memory(url="there", token="", egress=egress, clock=clock)
        replicator = Replicator(
            target=target,
            store=store,
            blobs=blobs,
            clock=clock,
            rng=random.Random(3),
            log=RecordedLog(clock),
            references=[Invariant(name="files", check=references, yields="blobs")],
        )
        replica = ReplicatedStore(store, target, replicator, clock)
        await replicator.full_check()
        yield replica
        nursery.cancel_scope.cancel()
    store.close_now()


async def test_a_recovery_point_keeps_what_it_may_name_and_lets_go_of_the_rest(tmp_path: Path) -> None:
    """One that was named when the point was made stays for weeks after it is forgotten; with the point it goes."""
    async with replicated_store(tmp_path) as replica:
        for step in (("name", 0), ("upload", 0), ("keep", 0), ("wait", 1), ("forget", 0)):
            await replica.do(step)
        for _ in range(5):
            await replica.do(("wait", 10))
            await replica.do(("sweep", 0))
        assert NAMES[0] in replica.target.held
        await replica.store.write(keep_since, replica.clock.now())
        await replica.replicator.full_check()
        assert NAMES[0] not in replica.target.held


async def test_the_sweep_finds_what_no_trigger_has_told_and_takes_a_tombstone_away(tmp_path: Path) -> None:
    async with replicated_store(tmp_path) as replica:
        (hears,) = INVARIANTS
        assert await replica.store.read(hears.check) == []
        await replica.store.write(lambda tx: tx.run("drop trigger replica_files_named"))
        (told,) = await replica.store.read(hears.check)
        assert "replica_files_named is gone" in told
        for word in ("name", "sweep", "upload"):
            await replica.do((word, 0))
        assert NAMES[0] in replica.target.held
        for word in ("forget", "sweep"):
            await replica.do((word, 0))
        assert NAMES[0] in replica.target.tombstones
        for word in ("name", "sweep", "upload"):
            await replica.do((word, 0))
        assert NAMES[0] not in replica.target.tombstones
        replica.clock.offset_ms += 2 * WEEK_MS
        await replica.do(("sweep", 0))
        assert NAMES[0] in replica.target.held


async def test_a_target_that_fails_is_told_once_and_so_is_its_return(tmp_path: Path) -> None:
    async with replicated_store(tmp_path) as replica:
        await replica.do(("name", 0))
        for words in ("it is away", "it is away", "it is full"):
            await replica.store.write(replica_rows.went_wrong, words)
        assert (await replica.replicator.status()).problem == "it is full"
        await replica.do(("upload", 0))
        told = await replica.store.read(
            lambda tx: tx.all("select payload from outbox where kind = 'notice' order by seq")
        )
        assert ["away" in payload for (payload,) in told] == [True, False]
        assert (await replica.replicator.status()).problem is None


async def test_damage_here_makes_nothing_lost_there_and_is_noted(tmp_path: Path) -> None:
    async with replicated_store(tmp_path) as replica:
        for step in (("name", 0), ("upload", 0)):
            await replica.do(step)
        (file,) = (tmp_path / "blobs").rglob(NAMES[0])
        file.write_bytes(b"")
        for _ in range(2):  # of these nights one at most reads it all back
            await replica.do(("sweep", 0))
        assert await replica.store.read(pending) == 0
        assert NAMES[0] in replica.replicator.blobs.suspects
