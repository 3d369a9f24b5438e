"""The records of supervision: what a feature hands in, what its ``run`` receives, and the state that others may see.

Has no behaviour beyond the few methods of :class:`Child`; :mod:`svc.nursery.supervisor` keeps a subsystem alive.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal

import trio

from svc.log import Log

DEFAULT_DRAIN_S: Final = 5.0

Phase = Literal["starting", "running", "restarting", "draining", "stopped", "failed"]


class Child:
    """A subsystem's control over its own run, passed to ``run``; a new one after every restart.

    ``run`` itself is the intake: on drain it is cancelled at once. Work that must be finished even then is started with
    ``child.work.start_soon`` and has the subsystem's ``drain_s`` left.
    """

    def __init__(
        self, *, name: str, log: Log, work: trio.Nursery, ready: Callable[[], None], drain_asked: trio.Event
    ) -> None:
        self.name = name
        self.log = log
        self.work = work
        self._ready = ready
        self._drain_asked = drain_asked

    def started(self) -> None:
        """Say that it can serve now. Only then does the next subsystem start. Calling it more than once does no
        harm."""
        self._ready()

    @property
    def draining(self) -> bool:
        """True once this subsystem's own drain has begun: its work should then end."""
        return self._drain_asked.is_set()

    async def wait_draining(self) -> None:
        """Wait in a work task until the drain begins (an idle connection closes then)."""
        await self._drain_asked.wait()


@dataclass(frozen=True, kw_only=True)
class Subsystem:
    """One part that runs as long as the service does.

    ``run`` goes on until its intake is cancelled; a return means finished for good, a crash means a restart. The crash
    of an ``essential`` one ends the service instead. ``drain_s`` is how long its work may take to finish. No other
    subsystem depends on an ``independent`` one, so it drains together with its independent neighbours, not in turn. One
    that ``outlives`` the others starts before them and ends after them, because it handles what they write last.
    """

    name: str
    run: Callable[[Child], Awaitable[None]]
    essential: bool = False
    independent: bool = False
    outlives: bool = False
    drain_s: float = DEFAULT_DRAIN_S


@dataclass(frozen=True, kw_only=True)
class ChildState:
    """The state of a subsystem. ``last_error`` is one redacted line, empty if it never crashed."""

    phase: Phase
    restarts: int
    last_error: str
