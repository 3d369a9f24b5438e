"""A job: named work that the service does by itself, again and again. The row by which a feature adds one.

The scheduler runs the rows of all features; what is due, and what becomes of it, is the job's own business.
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
    """``run`` does all that is due now, and returns when something is due next (``None``: nothing that it knows of).

    It is run each ``every_s`` seconds, and earlier when it says so or is nudged; the first time at boot, or, not
    ``at_once``, after the first interval. It must be safe to run again at any time.
    """

    name: str
    summary: str
    run: Callable[[W], Awaitable[Millis | None]]
    every_s: float = TICK_S
    at_once: bool = True


@dataclass(frozen=True, kw_only=True)
class JobState:
    """How a job fares in this process. ``problem``: of the last run, in one redacted line; empty if it went well."""

    name: str
    every_s: float
    runs: int = 0
    last_at: Millis | None = None
    problem: str = ""
