"""The drill: restores the newest recovery point into a scratch folder, checks it like any restored home, and deletes
it. Then it does the same with the database of one older point, which is in other files of the archive: each night at a
random time, so that within weeks most files are read. It shows that the backup can really be restored.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

import trio

from svc.backup.archive import Archive
from svc.backup.catalogue import DrillState
from svc.backup.folders import forget_folder
from svc.backup.litestream import ArchiveFault
from svc.backup.points import KEEP_MS, Point
from svc.backup.restoring import RestoreFault, Restoring, Wanted
from svc.backup.verifying import fault_of
from svc.clock import DAY_MS, MINUTE_MS, SECOND_MS, Millis, rfc3339
from svc.nursery import ThreadPool

NO_POINT: Final = "there is no recovery point to restore"
LONGEST_S: Final = 20 * 3_600.0
"""Of one restore test. Beyond: it is given up and said to have failed; the next night's base backup waits for it."""
AGAIN_MS: Final = 15 * MINUTE_MS
"""Pause before the one further try of a night, after one that failed: the replica may have been away for a moment."""
OLDEST_MS: Final = KEEP_MS - 2 * DAY_MS
"""Of a point that is tried: the files of an older one may be pruned at any moment."""
TOO_LONG: Final = "it did not end within 20 hours: the line is too slow, or the place hangs"
CUT_OFF: Final = "svc ended while it ran, twice in a row: see its log, and whether memory or disk runs out"


@dataclass(kw_only=True)
class Drill:
    """``scratch`` is made and removed. ``restoring`` makes a new restorer each time.

    ``settle`` waits until pending data are sent: soon after archiving was switched on nothing could be restored yet.
    """

    archive: Archive
    threads: ThreadPool
    scratch: Path
    restoring: Callable[[], Restoring]
    settle: Callable[[], Awaitable[None]]
    rng: random.Random
    _again_at: Millis | None = None
    """When the one that failed last is tried once more."""
    _turn: trio.Lock = field(default_factory=trio.Lock)

    async def run(self) -> DrillState:
        """Run one drill now, never two at a time; never raises the errors of restoring."""
        async with self._turn:
            return await self._run()

    async def catch_up(self, due: Millis) -> Millis | None:
        """Run the drill of the night that began at ``due``, unless it was done. Returns when there is more to do.

        One that failed is tried once more after a while. One that was cut off is begun anew by the next start. If that
        is cut off, too, it is said to have failed: it may be what ends the service."""
        async with self._turn:
            catalogue, now = self.archive.catalogue, self.archive.clock.now()
            last = await self.threads.run(catalogue.drill)
            if last is not None and due <= last.at <= now:
                if self._again_at is None or (last.problem is not None and now < self._again_at):
                    return self._again_at
                self._again_at = None
                if last.problem is not None:  # else a drill that somebody asked for has succeeded since
                    await self._run()
                return None
            trying = await self.threads.run(catalogue.trying)
            if trying is not None and trying.cut_off:
                await self._note(DrillState(at=now, seconds=0.0, point="", problem=CUT_OFF))
            elif await self.threads.run(catalogue.points):
                state = await self._run()
                may_pass = state.problem not in {None, TOO_LONG}
                self._again_at = self.archive.clock.now() + AGAIN_MS if may_pass else None
                return self._again_at
            return None

    async def recall(self) -> None:
        """At a start: if the last drill failed, report it until the next one."""
        last = await self.threads.run(self.archive.catalogue.drill)
        if last is not None and (told := _told(last)) is not None:
            self.archive.recall("drill", told)

    async def _run(self) -> DrillState:
        archive, clock = self.archive, self.archive.clock
        began, started = clock.now(), trio.current_time()
        await self.threads.run(archive.catalogue.begin_drill)
        points = await self.threads.run(archive.catalogue.points)
        point, older = (points[0], older_of(points, now=began, rng=self.rng)) if points else (None, None)
        problem: str | None = NO_POINT
        if point is not None:
            await self.settle()
            with trio.move_on_after(LONGEST_S) as scope:
                problem = await self._fault_of(point)
                older = older if problem is None else None  # which is not tried then
                if older is not None:
                    problem = await self._fault_of(older, is_older=True)
                    point = point if problem is None else older
            problem = TOO_LONG if scope.cancelled_caught else problem
        seconds = max(trio.current_time() - started, (clock.now() - began) / SECOND_MS)
        return await self._note(
            DrillState(
                at=began,
                seconds=round(seconds, 1),
                point="" if point is None else point.id,
                problem=problem,
                older=None if older is None else older.at,
            )
        )

    async def _note(self, state: DrillState) -> DrillState:
        archive = self.archive
        await self.threads.run(partial(archive.catalogue.note, state))
        await archive.note("drill", _told(state))
        archive.log.info("backup.drill", point=state.point, seconds=state.seconds, problem=state.problem)
        return state

    async def _fault_of(self, point: Point, *, is_older: bool = False) -> str | None:
        """Restore that point; returns why that can't be done. Of an older one only the database is fetched: the mails
        and files of all points are compared each night by the replica."""
        problem = await self.threads.run(fault_of, self.archive.catalogue, point)
        if problem is None:
            await self.threads.run(forget_folder, self.scratch)
            wanted = Wanted(into=self.scratch, point=point, keeps_secrets=True, without_blobs=is_older)
            try:
                restoring = self.restoring()
                await (replace(restoring, beyond=None) if is_older else restoring).restore(wanted)
            except (RestoreFault, ArchiveFault) as fault:
                problem = str(fault)
            finally:
                with trio.CancelScope(shield=True):  # removes files, and waits for nothing else
                    await self.threads.run(forget_folder, self.scratch)
        return problem if problem is None or not is_older else f"the state of {rfc3339(point.at)}: {problem}"


def _told(state: DrillState) -> str | None:
    return None if state.problem is None else f"the restore that is tried each night failed: {state.problem}"


def older_of(points: Sequence[Point], *, now: Millis, rng: random.Random) -> Point | None:
    """The last point before a random time. So each day is equally likely, although the last two days have the most
    points."""
    newest = points[0]
    others = [one for one in points[1:] if now - one.at <= OLDEST_MS]
    if not others:
        return None
    at = rng.uniform(min(one.at for one in others), newest.at)
    return next((one for one in others if one.at <= at), others[-1])
