"""A target is away for a day: what waits and the log stay bounded; one notice says so, and one says it is back.

The archiver's child is a stand-in here, so that the day is a virtual one; tests/backup/test_away.py has the real one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest
import trio

from svc.backup.archiver import LOG_MAX_BYTES, SENDING_S, UNSENT_MAX_BYTES, Archiver, ArchiverEnded
from svc.backup.control import Control, Position, unsent
from svc.backup.litestream import SLOWEST_BYTES_A_S, ArchiveFault, LogMisread
from svc.clock import VirtualClock
from svc.config import Config
from svc.nursery import ThreadPool
from svc.store import Home, Store
from tests.backup.archives import archive_of

LOOK_S: Final = 300.0
LOOKS: Final = 288
"""A day of them."""
LOOK_SOON_S: Final = 10.0
PIECES: Final = 13
PIECE_BYTES: Final = 5 * 1024 * 1024
DATABASE_BYTES: Final = 1024 * 1024


@dataclass
class Stored:
    """The part of a store that is used here: notices, and the checkpoint of the log."""

    told: list[str | None] = field(default_factory=list)
    folds: list[bool] = field(default_factory=list)
    folded: int = 0

    async def write(self, tell: object, part: str, problem: str | None) -> None:
        self.told.append(problem)

    async def leave_checkpoints(self, *, to_another: bool) -> None:
        self.folds.append(not to_another)

    async def fold_log(self) -> None:
        self.folded += 1


@dataclass
class Child:
    """The archiver's process, as it answers. While its target is away, what it reads lies beside the database."""

    folder: Path
    clock: VirtualClock
    away: bool = False
    writes: bool = True
    position: Position = field(default_factory=lambda: Position(txid=1, replicated_txid=1))
    fault: ArchiveFault | None = None

    async def sync(self, *, wait_s: float | None = None) -> Position:
        if self.fault is not None:
            raise self.fault
        if not self.writes:
            return self.position
        txid = self.position.txid + 1
        self.position = Position(txid=txid, replicated_txid=self.position.replicated_txid if self.away else txid)
        if self.away:
            self.folder.mkdir(parents=True, exist_ok=True)
            sized(self.folder / f"{txid:016x}-{txid:016x}.ltx", PIECE_BYTES)
        return self.position

    def of(self, ledger: Path) -> Child:
        """Of the ledger all is there at once."""
        return Child(self.folder, self.clock)


def sized(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def begun(tmp_path: Path, wall: VirtualClock, threads: ThreadPool, *, away: bool) -> tuple[Stored, Archiver, Child]:
    """``away``: the child's target."""
    home = SimpleNamespace(path=tmp_path, database=tmp_path / "svc.sqlite3")
    sized(home.database, DATABASE_BYTES)
    stored = Stored()
    archive = replace(archive_of(tmp_path, wall), store=cast(Store, stored))
    archive.begins()
    archiver = Archiver(
        archive=archive,
        home=cast(Home, home),
        config=cast(Config, None),
        threads=threads,
        rng=random.Random(1),
    )
    return stored, archiver, Child(tmp_path / ".svc.sqlite3-litestream" / "ltx" / "0", wall, away=away)


async def look_at(archiver: Archiver, child: Child) -> None:
    await archiver._look(cast(Control, cast(Any, child)))


@pytest.mark.thorough
async def test_what_waits_for_a_target_that_is_gone_for_a_day_is_bounded_and_told_once(
    tmp_path: Path, wall: VirtualClock, threads: ThreadPool
) -> None:
    stored, archiver, child = begun(tmp_path, wall, threads, away=False)
    archive, home = archiver.archive, archiver.home
    sized(Path(f"{home.database}-wal"), LOG_MAX_BYTES + 1)

    async def look() -> None:
        """As the archiver lives: a child that is ended is followed by another."""
        await trio.sleep(LOOK_S)
        try:
            await look_at(archiver, child)
        except ArchiverEnded as fault:
            await archiver._ended()
            await archiver._fails(fault)

    await look()
    assert (stored.told, archive.problem, archive.unsent_bytes) == ([], None, 0)
    child.away = True
    most = 0
    for _ in range(LOOKS):
        await look()
        most = max(most, await threads.run(unsent, home.database, Position(txid=1)))
    assert UNSENT_MAX_BYTES - PIECE_BYTES < most <= UNSENT_MAX_BYTES + DATABASE_BYTES + PIECE_BYTES
    assert [one is not None for one in stored.told] == [True], "once, and not at each look"
    assert stored.folds == [True], "the store folds the log in where the child was ended"
    assert archive.lag_s is not None
    assert archive.lag_s > (LOOKS - 2) * LOOK_S

    child.away = False
    await look()
    assert (stored.told[1:], archive.problem, archive.lag_s, archive.unsent_bytes) == ([None], None, 0.0, 0)


async def test_where_the_archiver_lost_its_place_in_the_log_that_is_folded_in_before_the_next_one(
    tmp_path: Path, wall: VirtualClock, threads: ThreadPool
) -> None:
    """It would go on to say so, also after a restart."""
    stored, archiver, child = begun(tmp_path, wall, threads, away=False)
    child.fault = ArchiveFault("the archiver does not answer (timeout)")
    await look_at(archiver, child)
    child.fault = LogMisread("the archiver refused: sync: write ltx from db: read database page 370: EOF")
    with pytest.raises(LogMisread) as caught:
        await look_at(archiver, child)
    await archiver._ended()
    await archiver._fails(caught.value)
    assert (stored.folded, stored.folds) == (1, [])


async def test_a_target_that_takes_a_byte_at_a_time_holds_the_archiver_for_a_bounded_time_and_nothing_is_dropped(
    tmp_path: Path, wall: VirtualClock, threads: ThreadPool
) -> None:
    """The archiver answers, and its exchange with the target goes on and on: it has a deadline by what waits."""
    stored, archiver, child = begun(tmp_path, wall, threads, away=True)

    async def lived_s() -> float:
        """Of a child that first has to ask the target what it has: the answer is no progress."""
        began, position = trio.current_time(), child.position

        async def live() -> None:
            await trio.sleep(LOOK_SOON_S)
            child.position = Position(txid=position.txid)
            await look_at(archiver, child)
            child.position = position
            while True:
                await trio.sleep(LOOK_SOON_S)
                await look_at(archiver, child)

        with trio.fail_after(LOOKS * LOOK_S), pytest.raises(ArchiverEnded, match="what waits is kept here") as caught:
            await live()
        await archiver._ended()
        await archiver._fails(caught.value)
        return trio.current_time() - began

    await child.sync()
    child.writes = False
    await look_at(archiver, child)
    waits = await threads.run(unsent, archiver.home.database, Position(txid=2, replicated_txid=1))
    limit_s = SENDING_S + waits / SLOWEST_BYTES_A_S
    assert [await lived_s() for _ in range(3)] == pytest.approx([limit_s, 2 * limit_s, 4 * limit_s], abs=20)
    assert await threads.run(unsent, archiver.home.database, Position(txid=2, replicated_txid=1)) == waits > 0
    assert [one is not None for one in stored.told] == [True]

    child.away, child.writes = False, True
    await look_at(archiver, child)
    assert (stored.told[1:], archiver.archive.problem) == ([None], None)
    child.away = True
    await child.sync()
    child.writes = False
    assert await lived_s() == pytest.approx(SENDING_S + PIECE_BYTES / SLOWEST_BYTES_A_S, abs=20)


async def test_an_archiver_on_a_slow_line_lives_as_long_as_one_change_after_the_other_arrives(
    tmp_path: Path, wall: VirtualClock, threads: ThreadPool
) -> None:
    """All of it takes longer than what is left may take, so only the changes that arrive can keep it alive."""
    stored, archiver, child = begun(tmp_path, wall, threads, away=True)
    for _ in range(PIECES):
        await child.sync()
    child.writes = False
    await look_at(archiver, child)

    while child.position.replicated_txid < child.position.txid:
        problem = archiver.archive.problem
        await trio.sleep(PIECE_BYTES / (4 * SLOWEST_BYTES_A_S))
        child.position = Position(txid=child.position.txid, replicated_txid=child.position.replicated_txid + 1)
        await look_at(archiver, child)
    assert problem is not None
    assert problem.startswith("only a part of what waits reaches")
    assert [one is not None for one in stored.told] == [True, False]


async def test_an_exchange_that_began_before_a_write_and_ends_after_it_is_not_said_to_have_sent_it(
    tmp_path: Path, wall: VirtualClock, threads: ThreadPool
) -> None:
    """The archiver tells when its last exchange ended. What was written meanwhile is still here."""
    _, archiver, child = begun(tmp_path, wall, threads, away=False)
    await look_at(archiver, child)
    all_was_there = archiver.archive.synced_at
    await trio.sleep(LOOK_SOON_S)
    child.position = Position(txid=child.position.txid + 1, replicated_txid=child.position.replicated_txid)
    child.writes = False
    await look_at(archiver, child)
    assert archiver.archive.synced_at == all_was_there
    assert archiver.archive.lag_s == pytest.approx(LOOK_SOON_S, abs=1)
