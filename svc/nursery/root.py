"""The root of the tree: starts subsystems in order, serves, and drains them in reverse order.

Owns the table of children and the one decision to drain. The supervisor handles crashes; only the crash of an essential
subsystem comes here: the others are drained, and it is raised at the end. Nothing is cancelled before its turn, so that
no subsystem loses another one that it depends on (the store starts first and ends last).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import trio

from svc.backoff import Backoff
from svc.errors import Unavailable
from svc.log import Log
from svc.nursery.subsystem import ChildState, Subsystem
from svc.nursery.supervisor import Supervisor
from svc.nursery.task_group import first_fault, open_task_group


class Root:
    """All subsystems of one process. Used for one :meth:`run`."""

    def __init__(self, *, log: Log, rng: random.Random) -> None:
        self.started = trio.Event()
        """Set once each subsystem has had its turn to start."""
        self._log = log
        self._rng = rng
        self._children: dict[str, Supervisor] = {}  # in start order
        self._nursery: trio.Nursery | None = None
        self._starting = trio.CancelScope()
        self._drain_begun = trio.Event()
        self._asked = False
        self._hurried = False
        self._fault: ExceptionGroup[Exception] | None = None

    async def run(
        self, subsystems: Sequence[Subsystem], *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Start ``subsystems`` in order, each once the one before it serves; serve until :meth:`drain`; then drain.

        A subsystem that crashes before it serves does not delay the next one: it is restarted in the background. Raises
        the crash of an essential subsystem, after the others have drained.
        """
        try:
            async with open_task_group() as nursery:
                self._nursery = nursery
                with self._starting:
                    await self._start_all(subsystems)
                self.started.set()
                task_status.started()
                await self._drain_begun.wait()
                await self._drain_all()
        finally:
            self._nursery = None
        if self._fault is not None:
            raise first_fault(self._fault)

    def drain(self, reason: str) -> None:
        """Begin the drain. A second call sets every deadline to now; the order stays. Further calls change nothing."""
        if self._asked:
            self._hurry(reason)
        self._asked = True
        self._begin_drain(reason)

    @property
    def draining(self) -> bool:
        return self._drain_begun.is_set()

    async def wait_draining(self) -> None:
        await self._drain_begun.wait()

    async def add(self, subsystem: Subsystem) -> None:
        """Start one more subsystem while running. Returns when it serves, or when it has crashed and will be restarted.

        Raises ``Unavailable`` when not running or draining, ``ValueError`` when the name is in use.
        """
        if self._nursery is None or self.draining:
            raise Unavailable("The service is not running or is shutting down.")
        await self._launch(subsystem, self._nursery, independent=True).settled.wait()

    async def remove(self, name: str) -> None:
        """Drain one subsystem alone. Returns when nothing of it runs; at once if no subsystem has that name."""
        child = self._children.get(name)
        if child is None:
            return
        self._drain_child(child)
        await child.gone.wait()
        if self._children.get(name) is child:
            del self._children[name]

    def states(self) -> Mapping[str, ChildState]:
        """The state of every subsystem, in start order."""
        return {name: child.state for name, child in self._children.items()}

    # Starting

    async def _start_all(self, subsystems: Sequence[Subsystem]) -> None:
        for subsystem in subsystems:
            if self.draining or self._nursery is None:
                return
            child = self._launch(subsystem, self._nursery, independent=subsystem.independent)
            await child.settled.wait()

    def _launch(self, subsystem: Subsystem, nursery: trio.Nursery, *, independent: bool) -> Supervisor:
        earlier = self._children.pop(subsystem.name, None)
        if earlier is not None and not earlier.gone.is_set():
            self._children[subsystem.name] = earlier
            raise ValueError(f"a subsystem named {subsystem.name!r} is running")
        child = Supervisor(subsystem, independent=independent, log=self._log, backoff=Backoff(rng=self._rng))
        self._children[subsystem.name] = child
        nursery.start_soon(self._keep, child, name=subsystem.name)
        return child

    async def _keep(self, child: Supervisor) -> None:
        await child.keep()
        if child.fault is not None:
            self._fault = self._fault or child.fault
            self._begin_drain(f"{child.subsystem.name} failed")

    # Draining

    def _begin_drain(self, reason: str) -> None:
        if not self.draining:
            self._log.info("drain.begun", reason=reason)
            self._drain_begun.set()
            self._starting.cancel()

    def _hurry(self, reason: str) -> None:
        if not self._hurried:
            self._log.warning("drain.cut_short", reason=reason)
            self._hurried = True
            for child in self._children.values():
                if child.state.phase == "draining":
                    self._drain_child(child)

    async def _drain_all(self) -> None:
        for batch in self._drain_order():
            for child in batch:
                self._drain_child(child)
            for child in batch:
                await child.gone.wait()
        self._log.info("drain.ended")

    def _drain_order(self) -> Iterator[list[Supervisor]]:
        """The reverse start order; independent neighbours are drained together."""
        for independent, neighbours in groupby(
            reversed(list(self._children.values())), lambda child: child.independent
        ):
            if independent:
                yield list(neighbours)
            else:
                yield from ([child] for child in neighbours)

    def _drain_child(self, child: Supervisor) -> None:
        child.drain(grace_s=0.0 if self._hurried else child.subsystem.drain_s)
