"""Checks that the jobs of the service run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svc.check import Check, CheckContext, Finding, ok, skipped, warning
from svc.scheduler.tasks import Scheduler

LATE_ROUNDS: Final = 4
"""After so many intervals without a run, a job counts as late: a slow run takes less."""


async def _jobs(context: CheckContext) -> Sequence[Finding]:
    if context.workspace is None:
        return [skipped("No service runs")]
    states = context.workspace.service(Scheduler).states()
    found = [
        warning(f"The job {one.name} failed when it ran last: {one.problem}", "It is run again; the log says more")
        for one in states
        if one.problem
    ]
    now = context.clock.now()
    found += [
        warning(
            f"The job {one.name} has not come to an end for a long time",
            "It may wait for something that does not answer; start the service again if it stays so",
        )
        for one in states
        if one.last_at is not None and now - one.last_at > LATE_ROUNDS * one.every_s * 1_000
    ]
    return found or [ok(f"{len(states)} jobs run, each at its time")]


CHECKS: Final = (Check(name="jobs", summary="The jobs of the service do their work.", run=_jobs),)
