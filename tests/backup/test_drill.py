"""The drill tries the newest point with all it names, and the database of an older one from a random time."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from svc.backup.drill import AGAIN_MS, CUT_OFF, OLDEST_MS, Drill, older_of
from svc.backup.points import public_of, sign
from svc.backup.restoring import Restored, RestoreFault, Restoring, Wanted
from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS, VirtualClock
from svc.nursery import ThreadPool
from tests.backup.archives import archive_of
from tests.backup.test_points import HOME, SEED, point


@dataclass
class Restores:
    """A restorer that notes what is wanted of it, with or without blobs, and can't restore the points in ``bad``."""

    beyond: object = "a replica"
    bad: tuple[str, ...] = ()
    asked: list[tuple[str, bool]] = field(default_factory=list)

    async def restore(self, wanted: Wanted) -> Restored | None:
        assert wanted.point is not None
        assert wanted.keeps_secrets
        assert wanted.without_blobs is (self.beyond is None)
        self.asked.append((wanted.point.id, self.beyond is not None))
        if wanted.point.id in self.bad:
            raise RestoreFault("a file is damaged")
        return None


def drill_of(directory: Path, clock: VirtualClock, threads: ThreadPool, restores: Restores, ages: Any) -> Drill:
    archive = archive_of(directory, clock)
    archive.catalogue.begin(HOME, {})
    for age in ages:
        made = point(clock.now() - age, f"rp_{age}")
        archive.catalogue.add(sign(made, SEED), made, key=public_of(SEED))

    async def note(part: str, problem: str | None) -> None:
        pass

    async def settle() -> None:
        pass

    archive.note = note  # type: ignore[method-assign]
    return Drill(
        archive=archive,
        threads=threads,
        scratch=directory / "scratch",
        restoring=lambda: cast(Restoring, restores),
        settle=settle,
        rng=random.Random(1),
    )


@pytest.mark.parametrize(
    ("ages", "bad", "asked", "problem", "failed"),
    [
        ((0, 5 * DAY_MS), "", [(0, True), (5 * DAY_MS, False)], None, 0),
        ((0,), "", [(0, True)], None, 0),
        ((0, OLDEST_MS + 1), "", [(0, True)], None, 0),
        ((0, DAY_MS), "rp_0", [(0, True)], "a file is damaged", 0),
        ((0, DAY_MS), f"rp_{DAY_MS}", [(0, True), (DAY_MS, False)], "a file is damaged", DAY_MS),
    ],
)
async def test_the_newest_point_is_tried_and_the_database_of_an_older_one(
    ages: tuple[int, ...],
    bad: str,
    asked: list[tuple[int, bool]],
    problem: str | None,
    failed: int,
    tmp_path: Path,
    threads: ThreadPool,
    wall: VirtualClock,
) -> None:
    restores = Restores(bad=(bad,))
    state = await drill_of(tmp_path, wall, threads, restores, ages).run()
    assert restores.asked == [(f"rp_{age}", with_blobs) for age, with_blobs in asked]
    assert (problem or "") in (state.problem or "")
    assert (state.problem is None, state.point) == (problem is None, f"rp_{failed}")
    older = next((age for age, with_blobs in asked if not with_blobs), None)
    assert state.older == (None if older is None else wall.now() - older)
    if failed:
        assert (state.problem or "").startswith("the state of "), "it says which"


class Killed(BaseException):
    """``kill -9`` while it runs: nothing is noted any more."""


async def test_one_that_was_cut_off_is_begun_anew_and_told_if_that_is_cut_off_too(
    tmp_path: Path, threads: ThreadPool, wall: VirtualClock
) -> None:
    class Deadly(Restores):
        async def restore(self, wanted: Wanted) -> Restored | None:
            await super().restore(wanted)
            raise Killed

    deadly, sound, due = Deadly(), Restores(), wall.now()

    async def killed() -> None:
        with pytest.raises(Killed):
            await drill_of(tmp_path, wall, threads, deadly, (0,)).catch_up(due)

    await killed()
    await drill_of(tmp_path, wall, threads, sound, (0,)).catch_up(due)
    again = drill_of(tmp_path, wall, threads, sound, (0,))
    await again.catch_up(due)
    assert (len(deadly.asked), len(sound.asked)) == (1, 1), "it was done"
    wall.offset_ms = DAY_MS
    due += DAY_MS
    await killed()
    await killed()
    await again.catch_up(due)
    noted = again.archive.catalogue.drill()
    assert noted is not None
    assert (noted.problem, len(deadly.asked), len(sound.asked)) == (CUT_OFF, 3, 1)
    assert (await again.run()).problem is None, "who asks for it gets it"


async def test_one_that_failed_is_tried_once_more_in_that_night(
    tmp_path: Path, threads: ThreadPool, wall: VirtualClock
) -> None:
    """The replica may have been away for a minute."""
    restores, due = Restores(bad=("rp_0",)), wall.now()
    drill = drill_of(tmp_path, wall, threads, restores, (0,))

    async def tries(*, after_ms: int) -> int:
        wall.offset_ms += after_ms
        before = len(restores.asked)
        await drill.catch_up(due)
        return len(restores.asked) - before

    again_at = await drill.catch_up(due)
    assert again_at == wall.now() + AGAIN_MS
    assert [await tries(after_ms=one) for one in (0, AGAIN_MS, AGAIN_MS, HOUR_MS)] == [0, 1, 0, 0]
    due += DAY_MS
    assert await tries(after_ms=DAY_MS) == 1
    restores.bad = ()
    assert (await drill.run()).problem is None
    assert await tries(after_ms=AGAIN_MS) == 0, "who asked for it got it"
    assert await drill.catch_up(due) is None


async def test_one_that_failed_is_known_after_a_restart_too(
    tmp_path: Path, threads: ThreadPool, wall: VirtualClock
) -> None:
    await drill_of(tmp_path, wall, threads, Restores(bad=("rp_0",)), (0,)).run()
    after = drill_of(tmp_path, wall, threads, Restores(), (0,))
    await after.recall()
    assert "a file is damaged" in (after.archive.problem_of("drill") or "")


def test_each_day_is_tried_within_weeks_however_many_points_the_last_two_have() -> None:
    now = 100 * DAY_MS
    ages = [*range(0, 2 * DAY_MS, 5 * MINUTE_MS), *range(2 * DAY_MS, 14 * DAY_MS, HOUR_MS)]
    points = [point(now - age, f"rp_{age}") for age in ages]
    rng, days = random.Random(1), Counter[int]()
    for _ in range(200):
        found = older_of(points, now=now, rng=rng)
        assert found is not None
        days[(now - found.at) // DAY_MS] += 1
    assert set(range(12)) <= set(days)
    assert max(days) <= OLDEST_MS // DAY_MS
