"""Ten past two, local time: once a day, also on the days on which the clock is changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo

import pytest
import trio

from svc.backup.archiver import Archiver
from svc.backup.catalogue import Base, BaseState
from svc.backup.litestream import ArchiveFault, Entry
from svc.backup.moments import Moment
from svc.backup.nightly import AGAIN_MS, Nightly, latest_due, next_due
from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, VirtualClock
from svc.errors import Refusal
from svc.nursery import ThreadPool
from tests.backup.archives import archive_of

BERLIN = ZoneInfo("Europe/Berlin")


async def nothing() -> None:
    pass


async def no_drill(due: int) -> None:
    pass


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.parametrize(
    ("day", "due"),
    [
        ("2026-11-21", "2026-11-21T02:10:00+01:00"),
        ("2026-03-29", "2026-03-29T03:10:00+02:00"),  # 02:10 does not exist
        ("2026-10-25", "2026-10-25T02:10:00+02:00"),  # it comes twice: the first one
    ],
)
def test_a_night_has_one(day: str, due: str) -> None:
    noon = at(f"{day}T12:00:00+00:00")
    assert latest_due(noon, BERLIN) == at(due)
    assert latest_due(at(due), BERLIN) == at(due)
    assert latest_due(at(due) - 1, BERLIN) < at(due) - 20 * HOUR_MS
    assert next_due(at(due) - 1, BERLIN) == at(due)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"])
def test_over_two_years_each_day_has_exactly_one(zone: str) -> None:
    place = ZoneInfo(zone)
    now = round(datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp() * 1000)
    last = latest_due(now, place)
    days = []
    for _ in range(731):
        due = next_due(last, place)
        assert latest_due(due, place) == due
        assert latest_due(due + 90 * MINUTE_MS, place) == due, "not twice, where the hour comes twice"
        days.append(datetime.fromtimestamp(due / 1000, place).date())
        last = due
    assert days == [days[0] + timedelta(days=count) for count in range(731)]


async def test_a_base_backup_of_a_time_that_is_yet_to_come_does_not_count(
    tmp_path: Path, threads: ThreadPool, wall: VirtualClock
) -> None:
    """The clock was wrong when it was made, and was set back since."""
    archive = archive_of(tmp_path, wall)
    made: list[int] = []

    @dataclass
    class Counted(Nightly):
        async def make(self, *, is_first: bool = False) -> Base | None:
            made.append(now := self.archive.clock.now())
            self.archive.catalogue.note(BaseState(at=now))
            return Base(id="1", at=now, bytes=1)

    archiver = cast(Archiver, None)  # nothing is asked of it
    nightly = Counted(archive=archive, archiver=archiver, threads=threads, then=nothing, drill=no_drill, zone=BERLIN)
    archive.runs = True
    await nightly.run()
    await nightly.run()
    assert made == [wall.now()], "once a night"
    wall.offset_ms = 400 * DAY_MS
    await nightly.run()
    wall.offset_ms = 0
    await nightly.run()
    await nightly.run()
    assert [at - wall.now() for at in made] == [0, 400 * DAY_MS, 0]


async def test_a_restart_after_the_base_backup_does_not_leave_out_the_drill_of_that_night(
    tmp_path: Path, threads: ThreadPool, wall: VirtualClock
) -> None:
    archive, begun = archive_of(tmp_path, wall), list[int]()
    archive.catalogue.note(BaseState(at=wall.now()))  # and then svc was stopped

    async def drill(due: int) -> None:
        begun.append(due)

    nightly = Nightly(
        archive=archive, archiver=cast(Archiver, None), threads=threads, then=nothing, drill=drill, zone=BERLIN
    )
    await nightly.run()
    assert begun == [], "nothing can be restored before the archiver runs"
    archive.runs = True
    await nightly.run()
    assert begun == [latest_due(wall.now(), BERLIN)]


async def test_one_that_failed_by_day_is_made_again_soon_though_the_one_of_the_night_is_there(
    tmp_path: Path, threads: ThreadPool, wall: VirtualClock
) -> None:
    """Else what it said of the place, such as a full disk, would stand there until the next night."""
    archive, drilled, fails = archive_of(tmp_path, wall), list[int](), True
    archive.catalogue.note(BaseState(at=wall.now()))
    archive.runs = True
    told: list[str | None] = []

    async def note(part: str, problem: str | None) -> None:
        told.append(problem)

    async def drill(due: int) -> None:
        drilled.append(due)

    class Place(Nightly):
        async def _sent(self, *, is_first: bool) -> list[Entry]:
            if fails:
                raise ArchiveFault("its disk is full")
            return []

    archive.note = note  # type: ignore[method-assign]
    nightly = Place(
        archive=archive, archiver=cast(Archiver, None), threads=threads, then=nothing, drill=drill, zone=BERLIN
    )
    await nightly.make()
    assert await nightly.run() == wall.now() + AGAIN_MS
    assert (len(told), len(drilled)) == (1, 1)
    fails = False
    await trio.sleep(AGAIN_MS / SECOND_MS)
    await nightly.run()
    assert told == ["the base backup failed: its disk is full", None]


async def test_who_asked_for_one_is_told_in_the_words_of_the_place(
    tmp_path: Path, threads: ThreadPool, wall: VirtualClock
) -> None:
    archive = archive_of(tmp_path, wall)
    archive.problem_of = lambda part: "the base backup failed: s3://Box says AccessDenied"  # type: ignore[method-assign]

    class Failed(Nightly):
        async def make(self, *, is_first: bool = False) -> Base | None:
            return None

    nightly = Failed(archive=archive, archiver=cast(Archiver, None), threads=threads, then=nothing, drill=no_drill)
    with pytest.raises(Refusal, match=r"^The base backup failed: s3://Box says AccessDenied\.$"):
        await nightly.make_or_refuse()


async def test_what_the_clock_says_makes_no_archive_late(tmp_path: Path, wall: VirtualClock) -> None:
    archive = archive_of(tmp_path, wall)

    def synced() -> None:
        archive.synced(Moment(at=wall.now(), since=trio.current_time(), read=(1, 1)))

    archive.begins()
    assert archive.synced_at is None
    synced()
    wall.offset_ms = DAY_MS
    assert archive.lag_s == 0
    wall.offset_ms = -DAY_MS
    await trio.sleep(90)
    archive.begins()  # it was started again, and that is no news
    assert archive.lag_s == 90
    synced()
    assert archive.lag_s == 0
