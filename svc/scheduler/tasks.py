"""Runs every job each time its interval is over, and earlier when the job asks for it or is nudged.

Theory: durations and dates need two clocks. The pauses here are slept on Trio's clock, which stands still while a
laptop sleeps; due dates are compared with the wall clock, at each run. So eight hours of sleep end in one run and not
in a thousand, and a wall clock that jumps, either way, is noticed within one interval. Memory holds no date but the
next one.

Owns one loop per job, and the state of each. The state is kept in memory: storing it at each run would mean a durable
write every few seconds for a service that has nothing to do. A job never overlaps itself, and a job that crashes or
hangs does not affect the others. A job must be safe to run again at once: a nudge may come at any time, also while it
runs.
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
"""The shortest pause between two runs without a nudge: a job whose next date stays in the past must not spin."""


@dataclass(kw_only=True)
class Scheduler(Generic[W]):
    """The jobs of one process. ``context`` is passed to each job: the workspace of its plane."""

    clock: Clock
    context: W
    _jobs: dict[str, Job[W]] = field(default_factory=dict)
    _nudges: dict[str, Wake] = field(default_factory=dict)
    _states: dict[str, JobState] = field(default_factory=dict)
    _runs: bool = False

    def add(self, job: Job[W]) -> None:
        """Adds a job. A duplicate name, or a job that is added while the scheduler runs, is a bug."""
        if job.name in self._jobs or self._runs:
            raise RuntimeError(f"the job {job.name} is added twice, or too late")
        self._jobs[job.name] = job
        self._nudges[job.name] = Wake()
        self._states[job.name] = JobState(name=job.name, every_s=job.every_s)

    def nudge(self, name: str) -> None:
        """Makes the job of that name run as soon as it can, because something changed. Never waits; many nudges count
        as one."""
        self._nudges[name].call()

    def states(self) -> Sequence[JobState]:
        """Every job and its last run, in the order of the features."""
        return tuple(self._states.values())

    async def run(self, child: Child) -> None:
        """Runs the subsystem. On drain the loops end at once: work that a job must finish runs elsewhere."""
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
            except Exception as error:  # an edge: an error in one job must not stop the others, nor its own next try
                log.error("scheduler.job_failed", error, job=job.name)
                problem = summary(error)
            state = self._states[job.name]
            self._states[job.name] = replace(state, runs=state.runs + 1, last_at=self.clock.now(), problem=problem)
            await nudged.wait(at_most_s=self._pause_s(job, next_at))  # at once, if something changed during the run

    def _pause_s(self, job: Job[W], next_at: Millis | None) -> float:
        if next_at is None:
            return job.every_s
        return min(job.every_s, max(SHORTEST_PAUSE_S, (next_at - self.clock.now()) / SECOND_MS))
