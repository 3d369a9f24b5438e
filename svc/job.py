"""A job: named work that the service repeats by itself. A feature adds jobs as rows.

The scheduler runs the rows of all features. What is due, and how it is done, is up to the job.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from svc.clock import Millis

W = TypeVar("W")

TICK_S: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class Job(Generic[W]):
    """``run`` does all that is due now, and returns when something is due next (``None``: it knows of nothing).

    It runs every ``every_s`` seconds, and earlier if it returned an earlier time or is nudged. The first run is at
    boot, or, without ``at_once``, after the first interval. It must be safe to run again at any time.
    """

    name: str
    summary: str
    run: Callable[[W], Awaitable[Millis | None]]
    every_s: float = TICK_S
    at_once: bool = True


@dataclass(frozen=True, kw_only=True)
class JobState:
    """The state of a job in this process. ``problem``: of the last run, in one redacted line; empty if it went well."""

    name: str
    every_s: float
    runs: int = 0
    last_at: Millis | None = None
    problem: str = ""
