"""The dispatcher: knows the workers, and gives them the runs that are due.

Owns the list of workers that have shaken hands, in memory. Every few seconds a worker repeats its handshake, with the
runs that it holds. A worker that is silent for the length of a lease is forgotten, and its runs go to another.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import msgspec
import trio

from svc.clock import SECOND_MS
from svc.config import BadValue
from svc.errors import Invalid
from svc.nursery import Child, Wake
from svc.protocol import Connect, Link, LinkFault
from svc.runs import leasing, queries
from svc.runs.model import LEASE_MS, LEASED_AT_ONCE, Lease
from svc.runs.states import RunState
from svc.settings import loopback_url
from svc.workspace import Workspace

LONGEST_LOOK_S: Final = 30.0
"""The longest pause between two looks, because the system clock may jump."""
IN_MEMORY: Final = "memory:"
GIVE_S: Final = 10.0
STOP_S: Final = 2.0
ALIVE_S: Final = 2.0
"""A living worker answers within this time."""
_PAUSE_S: Final = 1.0
_BY_TIME: Final[tuple[RunState, ...]] = ("waiting", "running")
"""States that time ends: a timer ends, or a lease expires."""
_WANT_WORKER: Final[tuple[RunState, ...]] = ("queued",)


@dataclass(kw_only=True)
class Worker:
    """``instance`` is new with each start of the worker."""

    url: str
    instance: str
    version: str
    link: Link
    seen: float
    held: int = 0

    @property
    def name(self) -> str:
        """The worker's name in the column ``worker`` of runs."""
        return f"{self.url}#{self.instance}"


@dataclass(kw_only=True)
class Dispatcher:
    """``instance`` is new with each boot of this plane. A worker sees by it that it must shake hands again."""

    workspace: Workspace
    wake: Wake = field(default_factory=Wake)
    instance: str = field(default_factory=lambda: secrets.token_hex(8))
    token: str = field(default="", repr=False)
    """The internal token, which this plane shows to workers."""
    in_memory: Connect | None = None
    """The connection to the worker inside this process, if there is one."""
    _workers: dict[str, Worker] = field(default_factory=dict)

    def workers(self) -> tuple[Worker, ...]:
        """The workers whose last handshake is recent."""
        oldest = trio.current_time() - LEASE_MS / SECOND_MS
        return tuple(worker for worker in self._workers.values() if worker.seen >= oldest)

    async def forget_dead(self) -> None:
        """After a worker has died: queue the runs of workers that no longer answer, at once."""
        for worker in tuple(self._workers.values()):
            if not await self._lives(worker):
                await self._forget(worker)
                await self.workspace.store.write(leasing.lose_of, worker.name)
                self.wake.call()

    async def _lives(self, worker: Worker) -> bool:
        try:
            return (await worker.link.ask("GET", "/livez", within_s=ALIVE_S)).ok
        except LinkFault:
            return False

    async def meet(self, *, url: str, instance: str, version: str, held: dict[str, int]) -> list[str]:
        """Handle a worker's handshake. Returns the runs that the worker should drop."""
        known = self._workers.get(url)
        if known is None or known.instance != instance:
            if known is not None:
                await self._forget(known)
            known = Worker(url=url, instance=instance, version=version, link=self._link(url), seen=trio.current_time())
            self._workers[url] = known
            self.workspace.log.info("runs.worker_met", url=url, version=version)
            self.wake.call()
        known.seen, known.held = trio.current_time(), len(held)
        store = self.workspace.store
        if not held and not await store.read_small(queries.held_at, url):
            return []  # an idle worker causes no write
        dropped = await store.write(leasing.renew, known.name, held)
        lost = await store.write(leasing.lose_predecessors, known.name, url=url)
        if lost:
            self.wake.call()
        return dropped

    async def _forget(self, worker: Worker) -> None:
        """Drop the worker, unless a newer start of it has shaken hands meanwhile."""
        if self._workers.get(worker.url) is worker:
            del self._workers[worker.url]
        await worker.link.aclose()

    def _link(self, url: str) -> Link:
        """Raises :class:`svc.errors.Invalid` if the address is not a worker on this machine."""
        if url.startswith(IN_MEMORY):
            if self.in_memory is None:
                raise Invalid("No worker runs within this process.")
            return Link(connect=self.in_memory, authority="127.0.0.1", token=self.token)
        try:
            authority = loopback_url(url).removeprefix("http://")
        except BadValue as error:
            raise Invalid(f"controlUrl: {error}") from None
        host, _, port = authority.partition(":")
        return Link(connect=partial(trio.open_tcp_stream, host, int(port)), authority=authority, token=self.token)

    async def run(self, child: Child) -> None:
        """Give out due runs, until the intake is cancelled."""
        child.started()
        while True:
            await self.wake.wait(at_most_s=await self.look())

    async def look(self) -> float:
        """Give out all runs that are due now. Returns the seconds until the next look."""
        store = self.workspace.store
        while await store.read_small(queries.is_any_due, _BY_TIME):
            await store.write(leasing.make_due)
        while worker := self._freest():
            if not await store.read_small(queries.is_any_due, _WANT_WORKER):
                break
            leases = await store.write(leasing.lease, worker.name)
            given = [await self._give(worker, lease) for lease in leases]
            if not all(given):
                return _PAUSE_S
            if len(leases) < LEASED_AT_ONCE:
                break
        return await self._until_due()

    def _freest(self) -> Worker | None:
        return min(self.workers(), key=lambda worker: worker.held, default=None)

    async def _until_due(self) -> float:
        if not self.workers():
            return LONGEST_LOOK_S  # a handshake wakes it
        due_at = await self.workspace.store.read_small(queries.next_due)
        if due_at is None:
            return LONGEST_LOOK_S
        return min(max((due_at - self.workspace.clock.now()) / SECOND_MS, 0.001), LONGEST_LOOK_S)

    async def _give(self, worker: Worker, lease: Lease) -> bool:
        """Whether the worker has taken the run. An unreachable worker is known again after its next handshake."""
        why = ""
        try:
            answer = await worker.link.post("/runs", order_of(lease), within_s=GIVE_S)
            if answer.ok:
                worker.held += 1
                return True
            why = answer.problem()
        except LinkFault as fault:
            why = str(fault)
            await self._forget(worker)
        self.workspace.log.warning("runs.not_taken", run_id=lease.run.id, worker=worker.url, why=why)
        await self.workspace.store.write(leasing.give_back, lease)
        return False

    async def stop(self, run_ids: list[str]) -> None:
        """Tell every worker that these runs are cancelled. A worker that misses it learns it at its next handshake."""
        with trio.move_on_after(STOP_S):
            for worker in self.workers():
                for run_id in run_ids:
                    try:
                        await worker.link.post(f"/runs/{run_id}/cancel", {})
                    except LinkFault as fault:
                        self.workspace.log.info("runs.cancel_not_heard", run_id=run_id, why=str(fault))
                        break


def order_of(lease: Lease) -> dict[str, Any]:
    """The message to a worker: the run, its token, and the results so far."""
    return {
        "runId": lease.run.id,
        "epoch": lease.run.epoch,
        "workflow": lease.run.workflow,
        "version": lease.run.version,
        "input": msgspec.Raw(lease.run.input.encode()),
        "runToken": lease.token,
        "steps": [
            {
                "stepId": step.key,
                "kind": step.kind,
                "state": step.state,
                "inputDigest": step.input_digest.hex(),
                "output": msgspec.Raw((step.output or "null").encode()),
                "error": msgspec.Raw((step.error or "null").encode()),
                "attempts": step.attempts,
                "dueAt": step.due_at,
            }
            for step in lease.steps
        ],
    }
