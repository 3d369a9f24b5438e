"""The tick: every job each time its interval is over, and earlier when it says so or is nudged.

Theory: durations and dates run on two clocks. The pauses here are slept on Trio's clock, which stands still while a
laptop sleeps; what is due is asked of the wall, anew at each run. So eight hours of sleep end in one run and not in a
thousand, and a wall clock that jumps, either way, is met within a tick. No date is kept in memory but the next one.

Owns one loop a job, and how each fares. That is kept in memory: to write it down at each tick would be a durable write
every few seconds for a service that has nothing to do. A job never overlaps itself, and one that crashes or hangs is no
other's trouble. What a job does must be safe to do again at once: a nudge may come at any time, also while it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

import trio

from svc.clock import SECOND_MS, Clock, Millis
from svc.job import Job, JobState
from svc.log import Log, summary
from svc.nursery import Child, Wake

W = TypeVar("W")

SHORTEST_PAUSE_S: Final = 0.2
"""Between two runs that nobody asked for: a job whose next date stays in the past must not spin."""


@dataclass(kw_only=True)
class Scheduler(Generic[W]):
    """The jobs of one process. ``context`` is what each gets: the workspace of its plane."""

    clock: Clock
    context: W
    _jobs: dict[str, Job[W]] = field(default_factory=dict)
    _nudges: dict[str, Wake] = field(default_factory=dict)
    _states: dict[str, JobState] = field(default_factory=dict)
    _runs: bool = False

    def add(self, job: Job[W]) -> None:
        """Twice the same name, or a job that comes when the scheduler runs already, is a bug."""
        if job.name in self._jobs or self._runs:
            raise RuntimeError(f"the job {job.name} is added twice, or too late")
        self._jobs[job.name] = job
        self._nudges[job.name] = Wake()
        self._states[job.name] = JobState(name=job.name, every_s=job.every_s)

    def nudge(self, name: str) -> None:
        """Something changed: the job of that name looks again as soon as it can. Never waits; many count as one."""
        self._nudges[name].call()

    def states(self) -> Sequence[JobState]:
        """Every job and its last run, in the order of the features."""
        return tuple(self._states.values())

    async def run(self, child: Child) -> None:
        """The subsystem. On drain the loops end at once: what a job must finish it starts elsewhere."""
        self._runs = True
        child.started()
        async with trio.open_nursery() as nursery:
            for job in self._jobs.values():
                nursery.start_soon(self._keep, job, child.log, name=f"job {job.name}")
            await trio.sleep_forever()

    async def _keep(self, job: Job[W], log: Log) -> None:
        nudged = self._nudges[job.name]
        if not job.at_once:
            await nudged.wait(at_most_s=job.every_s)
        while True:
            next_at, problem = None, ""
            try:
                next_at = await job.run(self.context)
            except Exception as error:  # an edge: one job's mistake must not stop the others, nor its own next try
                log.error("scheduler.job_failed", error, job=job.name)
                problem = summary(error)
            state = self._states[job.name]
            self._states[job.name] = replace(state, runs=state.runs + 1, last_at=self.clock.now(), problem=problem)
            await nudged.wait(at_most_s=self._pause_s(job, next_at))  # at once, if something changed during the run

    def _pause_s(self, job: Job[W], next_at: Millis | None) -> float:
        if next_at is None:
            return job.every_s
        return min(job.every_s, max(SHORTEST_PAUSE_S, (next_at - self.clock.now()) / SECOND_MS))
