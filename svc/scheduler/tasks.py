"""The tick: every job each 30 seconds, and earlier when it says so or is nudged.

Theory: durations and dates run on two clocks. The pauses here are slept on Trio's clock, which stands still while a
laptop sleeps; what is due is asked of the wall, anew at each run. So eight hours of sleep end in one run and not in a
thousand, and a wall clock that jumps, either way, is met within a tick. No date is kept in memory but the next one.

Owns one loop a job. A job never overlaps itself, and one that crashes or hangs is no other's trouble. What a job does
must be safe to do again at once: a nudge may come at any time, also while it runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import trio

from svc.clock import SECOND_MS, Clock, Millis
from svc.log import Log
from svc.nursery import Child

TICK_S: Final = 30.0
SHORTEST_PAUSE_S: Final = 0.2
"""Between two runs that nobody asked for: a job whose next date stays in the past must not spin."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """``run`` does all that is due now, and returns when something is due next (``None``: nothing that it knows of)."""

    name: str
    run: Callable[[], Awaitable[Millis | None]]


@dataclass(kw_only=True)
class Scheduler:
    """The jobs of one process. Jobs are added while the features are built, and run from boot to drain."""

    clock: Clock
    _jobs: dict[str, Job] = field(default_factory=dict)
    _nudges: dict[str, trio.Event] = field(default_factory=dict)
    _runs: bool = False

    def add(self, job: Job) -> None:
        """Twice the same name, or a job that comes when the scheduler runs already, is a bug."""
        if job.name in self._jobs or self._runs:
            raise RuntimeError(f"the job {job.name} is added twice, or too late")
        self._jobs[job.name] = job
        self._nudges[job.name] = trio.Event()

    def nudge(self, name: str) -> None:
        """Something changed: the job of that name looks again as soon as it can. Never waits; many count as one."""
        self._nudges[name].set()

    async def run(self, child: Child) -> None:
        """The subsystem. On drain the loops end at once: what a job must finish it starts elsewhere."""
        self._runs = True
        child.started()
        async with trio.open_nursery() as nursery:
            for job in self._jobs.values():
                nursery.start_soon(self._keep, job, child.log, name=f"job {job.name}")
            await trio.sleep_forever()

    async def _keep(self, job: Job, log: Log) -> None:
        while True:
            nudged = self._nudges[job.name] = trio.Event()  # before the run: what changes during it calls for another
            try:
                next_at = await job.run()
            except Exception as error:  # an edge: one job's mistake must not stop the others, nor its own next try
                log.error("scheduler.job_failed", error, job=job.name)
                next_at = None
            with trio.move_on_after(self._pause_s(next_at)):
                await nudged.wait()

    def _pause_s(self, next_at: Millis | None) -> float:
        if next_at is None:
            return TICK_S
        return min(TICK_S, max(SHORTEST_PAUSE_S, (next_at - self.clock.now()) / SECOND_MS))
