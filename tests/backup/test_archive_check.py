"""The check of the archive: it finds what a restore lacks, sends that again, and sees who else writes there."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest
import trio

from svc.backup.archive import Archive
from svc.backup.archive_check import FIRST_MS, FOLDER_MS, LONGEST_MS, NOT_YET_MS, ArchiveCheck
from svc.backup.archiver import Archiver
from svc.backup.control import Position
from svc.backup.litestream import ArchiveFault, Entry, Litestream
from svc.backup.restoring import Wanted
from svc.backup.service import Backup
from svc.backup.target import Target, place_of
from svc.clock import DAY_MS, MINUTE_MS, SECOND_MS, VirtualClock, WallClock
from svc.nursery import ThreadPool
from svc.store import Home, Ledger
from tests.backup.archives import archive_of
from tests.backup.test_away import all_is_there
from tests.backup.test_restoring import HOME
from tests.identity.people import sign_in
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, open_service
from tests.support.waiting import until

OURS: Final = {"home": HOME.encode(), "writer": b"ours"}
THEIRS: Final = {**OURS, "writer": b"theirs"}
OTHER_LINE: Final = {**OURS, "line": b"other"}
GONE: Final[dict[str, bytes]] = {}
NOTHING: Final = "no matching backup files available"
HOLE: Final = "non-contiguous ltx files: have up to 2 but next file starts at 4"
DAMAGED: Final = "invalid checksum"


@dataclass
class There:
    """An archiver that stands at a position, and a program that finds what is in the archive: a ledger, or why there is
    none, and how far the database reaches, or why not."""

    theirs: dict[str, bytes] | str
    reached: int | str = 7
    has_looked: bool = True
    kind: str = "s3"
    home: Any = field(default_factory=lambda: SimpleNamespace(id=HOME))
    did: list[str] = field(default_factory=list)
    fails: bool = False

    @property
    def target(self) -> Target:
        return Target(place=place_of("file", "/there") if self.kind == "file" else place_of("s3", "s3://box/there"))

    def written_config(self, tool: object, *, parts: object) -> Path:
        return Path()

    async def position(self) -> Position:
        return Position(txid=8, replicated_txid=7)

    async def send_ledger(self) -> None:
        self.did.append("sent the ledger")

    async def give_way(self) -> None:
        self.did.append("gave way")

    async def back_up(self) -> object:
        self.did.append("backed up")
        return None if self.fails else "a base backup"

    async def reaches(self, config: Path, part: str) -> int:
        if isinstance(self.reached, str):
            raise ArchiveFault(self.reached)
        return self.reached

    async def restore(self, config: Path, part: str, *, into: Path) -> None:
        if isinstance(self.theirs, str) or not self.theirs:
            raise ArchiveFault(self.theirs or NOTHING)
        Ledger(into).put(self.theirs)

    async def listed(self, config: Path, part: str, *, level: int) -> list[Entry]:
        return []


@dataclass
class Noting:
    """What admins are told."""

    told: list[str | None] = field(default_factory=list)

    async def note(self, part: str, problem: str | None) -> None:
        self.told.append(problem)


def checking(there: There, archive: Archive, threads: ThreadPool) -> tuple[ArchiveCheck, Noting]:
    archive.catalogue.begin(HOME, {"writer": b"ours"})
    archive.target, archive.tool, archive.synced_at = there.target, cast(Litestream, there), archive.clock.now()
    noting = Noting()
    archive.note = noting.note  # type: ignore[method-assign]
    archiver = cast(Archiver, there)
    return ArchiveCheck(archive=archive, archiver=archiver, threads=threads, back_up=there.back_up), noting


@pytest.mark.parametrize(
    ("there", "said", "did"),
    [
        (There(OURS, 7), None, ""),
        (There(OURS, 8), None, ""),
        (There(OURS, 6), "files are missing", "backed up"),
        (There(OURS, HOLE), "files are missing", "backed up"),
        (There(OURS, 9), "another copy of it writes there", ""),
        (There(OURS, NOTHING), "database is gone", "gave way"),
        (There(OURS, "it is away"), "it is away", ""),
        (There(GONE, NOTHING), "ledger of the archive is gone", "gave way"),
        (There(OTHER_LINE), "another archive of this home is now at", "gave way"),
        (There(THEIRS), None, "gave way"),
        (There(DAMAGED), "can't be read", ""),
        (There(DAMAGED, has_looked=False), None, "gave way"),
    ],
)
async def test_what_is_missing_is_told_and_sent_again_and_who_else_writes_is_seen(
    there: There, said: str | None, did: str, tmp_path: Path, threads: ThreadPool, wall: VirtualClock
) -> None:
    check, noting = checking(there, archive_of(tmp_path, wall), threads)
    await check.run()
    assert there.did == ["sent the ledger", *filter(None, [did])]
    assert noting.told, "also that all is well"
    assert all((one is None) == (said is None) and (said or "") in (one or "") for one in noting.told)


@pytest.mark.parametrize(("kind", "longest_ms"), [("file", FOLDER_MS), ("s3", LONGEST_MS)])
async def test_it_checks_soon_after_the_start_then_more_seldom_and_soon_again_after_something_was_missing(
    kind: str, longest_ms: int, tmp_path: Path, threads: ThreadPool, wall: VirtualClock
) -> None:
    there = There(OURS, has_looked=False, kind=kind)
    check, _ = checking(there, archive_of(tmp_path, wall), threads)

    async def pause_ms() -> int:
        return await check.run() - wall.now()

    pauses = [await pause_ms() for _ in range(9)]
    assert (there.has_looked, pauses[:3]) == (True, [FIRST_MS, 2 * FIRST_MS, 4 * FIRST_MS])
    assert pauses[-1] == longest_ms
    there.theirs = GONE
    assert [await pause_ms(), await pause_ms()] == [FIRST_MS, FIRST_MS]
    there.theirs, there.has_looked = THEIRS, False
    assert await pause_ms() == MINUTE_MS
    check.archive.synced_at = None
    assert await pause_ms() == NOT_YET_MS


async def test_once_another_copy_has_stopped_to_write_a_full_copy_is_sent(
    tmp_path: Path, threads: ThreadPool, wall: VirtualClock
) -> None:
    there = There(OURS, 9)
    check, noting = checking(there, archive_of(tmp_path, wall), threads)
    for reached in (9, 8, 8):
        there.reached = reached
        await check.run()
    assert there.did.count("backed up") == 1
    assert noting.told[-1] is None


async def test_a_home_that_writes_nothing_goes_on_after_what_another_copy_wrote_once_that_has_stopped(
    tmp_path: Path, threads: ThreadPool, wall: VirtualClock
) -> None:
    there = There(OURS, 9)
    check, noting = checking(there, archive_of(tmp_path, wall), threads)
    for there.reached in (9, 10, 11):
        await check.run()
    assert "gave way" not in there.did, "it still writes"
    await check.run()
    assert there.did[-1] == "gave way"  # the next archiver goes on after it
    there.reached = 7
    for _ in range(2):
        await check.run()
    assert (there.did.count("gave way"), there.did.count("backed up"), noting.told[-1]) == (1, 1, None)


async def test_where_the_full_copy_fails_that_is_told_until_one_was_sent(
    tmp_path: Path, threads: ThreadPool, wall: VirtualClock
) -> None:
    there = There(OURS, 9, fails=True)
    check, noting = checking(there, archive_of(tmp_path, wall), threads)
    await check.run()
    there.reached = 8
    for tries in (1, 2, 2):
        await check.run()
        assert there.did.count("backed up") == tries
        assert "could not be sent" in (noting.told[-1] or "")
    there.fails = False
    await trio.sleep(120)
    for _ in range(2):
        await check.run()
    assert noting.told[-1] is None


@pytest.mark.thorough
@pytest.mark.parametrize("there", [There(OURS, HOLE), There(GONE)])
async def test_a_place_that_loses_all_it_gets_is_sent_a_full_copy_less_and_less_often(
    there: There, tmp_path: Path, threads: ThreadPool, wall: VirtualClock
) -> None:
    check, noting = checking(there, archive_of(tmp_path, wall), threads)

    def sent() -> int:
        return there.did.count("backed up") + there.did.count("gave way")

    async def days(count: int) -> int:
        before, ends_at = sent(), wall.now() + count * DAY_MS
        while wall.now() < ends_at:  # noqa: ASYNC110  the check says how long
            await trio.sleep((await check.run() - wall.now()) / SECOND_MS)
        return sent() - before

    assert 5 < await days(1) < 13
    assert await days(3) in {3, 4}
    assert "tried once more in" in str(noting.told[-2:])
    there.theirs, there.reached = OURS, 7
    assert await days(1) == 0
    there.reached = HOLE
    assert 5 < await days(1) < 13, "it is new trouble"


@pytest.mark.wall_clock
@pytest.mark.thorough
async def test_a_place_that_loses_files_while_the_service_runs_has_all_again(
    tmp_path: Path, wall: VirtualClock, log: RecordedLog
) -> None:
    """With the real archiver. Each loss is followed by a change, which is sent to what is left."""
    place = tmp_path / "there"

    def a_hole() -> None:
        newest = sorted((place / "db" / "ltx" / "0").iterdir())[-1]
        for level in (place / "db" / "ltx").iterdir():
            for file in level.iterdir():
                if level.name in "123" or file == newest:
                    file.unlink()

    def emptied() -> None:
        for part in place.iterdir():
            shutil.rmtree(part)

    losses = [a_hole, emptied]
    wall.offset_ms += WallClock().now() - wall.now()  # the archiver goes by the machine's
    async with open_service(
        tmp_path / "home", clock=wall, log=log, PROVIDERS="fake", ARCHIVE_FILE_PREFIX=str(place)
    ) as service:
        backup = service.workspace.service(Backup)
        parts = backup.on()
        await until(parts.archive.catalogue.base, what="the first base backup")
        mia = await sign_in(service, MIA)
        paths: set[str] = set()

        def sent() -> set[Path]:
            return set((place / "db" / "ltx" / "0").glob("*"))

        async def write() -> None:
            paths.add(path := f"page/{len(paths)}")
            before = sent()
            await mia.mutate("pages.save", path=path, body="It is written down.")
            await until(lambda: sent() - before, what="the archiver to read the change and to send it")
            await all_is_there(parts.archiver)

        async def checked() -> str | None:
            async def has_run() -> bool:
                return await parts.check.run() != wall.now() + NOT_YET_MS

            await until(has_run, what="the check, while the archiver is being started")
            await all_is_there(parts.archiver)
            return parts.archive.problem

        for count, lose in enumerate(losses):
            await write()
            await parts.archiver.send_ledger()
            lose()
            await write()
            assert await checked(), count
            while await checked():  # it may need a second step
                wall.offset_ms += WallClock().now() - wall.now()
            into = tmp_path / f"restored{count}"
            await backup.restoring().restore(Wanted(into=into, without_blobs=True, keeps_secrets=True))
            connection = sqlite3.connect(Home.database_of(into))
            assert paths <= {path for (path,) in connection.execute("select path from pages")}
            connection.close()
