"""The drill: restores the newest recovery point into a scratch folder, checks it like any restored home, and deletes
it. It shows that the backup can really be restored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import trio

from svc.backup.archive import Archive
from svc.backup.catalogue import DrillState
from svc.backup.folders import forget_folder
from svc.backup.litestream import ArchiveFault
from svc.backup.restoring import RestoreFault, Restoring, Wanted
from svc.backup.verifying import fault_of
from svc.clock import SECOND_MS
from svc.nursery import ThreadPool

NO_POINT: Final = "there is no recovery point to restore"
LONGEST_S: Final = 20 * 3_600.0
"""Of one restore test. Beyond: it is given up and said to have failed; the next night's base backup waits for it."""
TOO_LONG: Final = "it did not end within 20 hours: the line is too slow, or the place hangs"


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
    _turn: trio.Lock = field(default_factory=trio.Lock)

    async def run(self) -> DrillState:
        """Run one drill now, never two at a time; never raises the errors of restoring."""
        async with self._turn:
            return await self._run()

    async def _run(self) -> DrillState:
        archive, clock = self.archive, self.archive.clock
        began, started = clock.now(), trio.current_time()
        points = await self.threads.run(archive.catalogue.points)
        point = points[0] if points else None
        problem = NO_POINT if point is None else await self.threads.run(fault_of, archive.catalogue, point)
        if point is not None and problem is None:
            await self.threads.run(forget_folder, self.scratch)
            await self.settle()
            try:
                with trio.move_on_after(LONGEST_S) as scope:
                    await self.restoring().restore(Wanted(into=self.scratch, point=point, keeps_secrets=True))
                problem = TOO_LONG if scope.cancelled_caught else None
            except (RestoreFault, ArchiveFault) as fault:
                problem = str(fault)
            finally:
                with trio.CancelScope(shield=True):  # removes files, and waits for nothing else
                    await self.threads.run(forget_folder, self.scratch)
        seconds = max(trio.current_time() - started, (clock.now() - began) / SECOND_MS)
        state = DrillState(
            at=began, seconds=round(seconds, 1), point="" if point is None else point.id, problem=problem
        )
        await self.threads.run(partial(archive.catalogue.note, state))
        told = None if problem is None else f"the restore that is tried each night failed: {problem}"
        await archive.note("drill", told)
        archive.log.info("backup.drill", point=state.point, seconds=state.seconds, problem=problem)
        return state
