"""Keeps one subsystem alive: its lives (runs between restarts), the pauses between them, and its drain.

Owns the intake's cancel scope and the work nursery of the current life. A crash ends that life completely, is logged in
full, and a new life follows; other subsystems do not notice. ``KeyboardInterrupt`` and ``SystemExit`` pass through.
"""

from __future__ import annotations

import math
from typing import Final

import trio

from svc.backoff import Backoff
from svc.log import Log, summary
from svc.nursery.subsystem import Child, ChildState, Phase, Subsystem
from svc.nursery.task_group import first_fault

HEALTHY_AFTER_S: Final = 300.0
"""A subsystem that served this long without a crash has recovered: its next restart is quick again."""

LAST_ERROR_MAX_CHARS: Final = 300


class Supervisor:
    """One subsystem under supervision.

    ``settled`` is set once nobody needs to wait for its start any more: it serves, has crashed, or has ended. ``gone``
    is set when nothing of it runs any more. ``fault`` is the crash of an essential subsystem.
    """

    def __init__(self, subsystem: Subsystem, *, independent: bool, log: Log, backoff: Backoff) -> None:
        self.subsystem = subsystem
        self.independent = independent
        self.settled = trio.Event()
        self.gone = trio.Event()
        self.fault: ExceptionGroup[Exception] | None = None
        self._log = log.bind(task=subsystem.name)
        self._backoff = backoff
        self._phase: Phase = "starting"
        self._restarts = 0
        self._last_error = ""
        self._serving_since_s = math.inf
        self._drain_asked = trio.Event()
        self._drain_by_s = math.inf
        self._intake = trio.CancelScope()
        self._work_scope: trio.CancelScope | None = None

    @property
    def state(self) -> ChildState:
        return ChildState(phase=self._phase, restarts=self._restarts, last_error=self._last_error)

    async def keep(self) -> None:
        """Run it, and run it again after a crash, until it is drained or finished."""
        try:
            while not self._drain_asked.is_set():
                crash = await self._live()
                if crash is None:
                    break
                if not self._may_live_again:
                    self._phase = "failed"
                    return
                self._phase = "restarting"
                await self._pause()
            self._phase = "stopped"
        finally:
            self.settled.set()
            self.gone.set()

    def drain(self, *, grace_s: float) -> None:
        """End the intake now and the work within ``grace_s``. A later call may only shorten that."""
        if self.gone.is_set():
            return
        self._phase = "draining"
        self._drain_asked.set()
        self._drain_by_s = min(self._drain_by_s, trio.current_time() + grace_s)
        if self._work_scope is not None:
            self._work_scope.deadline = self._drain_by_s
            self._intake.cancel()

    async def _live(self) -> ExceptionGroup[Exception] | None:
        """One life. Returns the crash, or ``None`` if it ended by itself or was drained."""
        crash = None
        self._serving_since_s = math.inf
        try:
            async with trio.open_nursery() as work:
                self._intake, self._work_scope = trio.CancelScope(), work.cancel_scope
                with self._intake:
                    await self.subsystem.run(self._child(work))
        except* Exception as group:
            crash = group
            self._note(crash)  # noted here, because an interrupt that comes with it skips the caller
        finally:
            self._work_scope = None
        return crash

    def _child(self, work: trio.Nursery) -> Child:
        return Child(
            name=self.subsystem.name, log=self._log, work=work, ready=self._serves, drain_asked=self._drain_asked
        )

    def _serves(self) -> None:
        self._serving_since_s = min(self._serving_since_s, trio.current_time())
        if self._phase in {"starting", "restarting"}:
            self._phase = "running"
        self.settled.set()

    @property
    def _may_live_again(self) -> bool:
        return not self.subsystem.essential and not self._drain_asked.is_set()

    def _note(self, crash: ExceptionGroup[Exception]) -> None:
        self._last_error = _one_line(crash)
        self._log.error("subsystem.crashed", crash, restarts=self._restarts, again=self._may_live_again)
        if self.subsystem.essential:
            self.fault = crash

    async def _pause(self) -> None:
        self.settled.set()
        if trio.current_time() - self._serving_since_s >= HEALTHY_AFTER_S:
            self._backoff.reset()
        with trio.move_on_after(self._backoff.next_s()):
            await self._drain_asked.wait()
        self._restarts += 1


def _one_line(crash: BaseException) -> str:
    """The first error, as text for a status page."""
    return " ".join(summary(first_fault(crash)).split())[:LAST_ERROR_MAX_CHARS]
