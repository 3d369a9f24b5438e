"""The embedder: makes the vectors of queued items through the broker, several texts per call.

The queue is a table, so a crash loses nothing, and no vector is paid for twice. If a call fails in a way that may pass,
it is tried again after growing pauses. If it will not pass (a ceiling, no key, no such model), a run gets the reason
and ends; new items wait for an hour, or until a user asks again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import trio

from svc.backoff import Retries
from svc.broker import EmbeddingFault, Embeddings
from svc.clock import DAY_MS
from svc.meaning import queue, vectors
from svc.meaning.form import form_of, problem
from svc.meaning.queue import Batch
from svc.nursery import Child, Wake, open_task_group
from svc.store import ReadTx
from svc.workspace import Workspace

TOPICS: Final = frozenset({"mail", "pages", queue.TOPIC})
DEBOUNCE_S: Final = 1.5
LOOK_AGAIN_S: Final = 10.0
"""The pause while an item waits that can't be read yet: its words are not known, or its page is being written."""
CALL_S: Final = 120.0
TRIES: Final = 6
"""Tries of one batch of a run. Beyond: the run ends, and says why."""
HOUR_S: Final = 3_600.0
_RETRIES: Final = Retries(first_s=1.0, cap_s=60.0)


@dataclass
class _Paused:
    """The time until which a key is not tried again."""

    until: float
    failures: int


@dataclass(kw_only=True)
class Embedder:
    """``follow`` returns once all events recorded before are in the queue."""

    workspace: Workspace
    follow: Callable[[], Awaitable[object]]
    wake: Wake = field(default_factory=Wake)
    problem: str = ""
    """Why new items have no vectors yet; empty if they have, or if nothing was tried."""
    _paused: dict[str, _Paused] = field(default_factory=dict)

    async def run(self, child: Child) -> None:
        child.started()
        async with open_task_group() as nursery:
            nursery.start_soon(self.workspace.store.outbox.wake_on, lambda row: row.topic in TOPICS, self.wake.call)
            while True:
                await self.catch_up()
                waits = await self.workspace.store.read_small(queue.has_any)
                await self.wake.wait(**({"at_most_s": LOOK_AGAIN_S} if waits else {}))
                await trio.sleep(DEBOUNCE_S)

    def try_again(self) -> None:
        """A user has changed something: end all pauses."""
        self._paused.clear()
        self.problem = ""
        self.wake.call()

    async def catch_up(self) -> None:
        """Process all items that can be processed now."""
        store = self.workspace.store
        await self.follow()
        if not await store.read_small(queue.has_any):
            self.problem = ""
            return
        while await store.write(queue.leave) or await store.write(queue.delete_other_forms):
            pass
        if await store.read_small(queue.has_ended):
            await store.write(queue.drop_ended)
        form = form_of(self.workspace)
        while True:
            now = trio.current_time()
            passing_by = [key for key, paused in self._paused.items() if paused.until > now]
            before = self.workspace.clock.now() - queue.REST_MS
            batch = await store.read(queue.next_batch, form=form.name, before=before, passing_by=passing_by)
            if batch is None:
                return
            await self._take(batch)

    async def _take(self, batch: Batch) -> None:
        store, form = self.workspace.store, form_of(self.workspace)
        try:
            if missing := await store.read_small(partial(_problem, workspace=self.workspace)):
                raise EmbeddingFault(missing, passing=False)
            made = await self._made(batch) if batch.texts else []
        except EmbeddingFault as fault:
            await self._failed(batch, fault)
            return
        self._paused.pop(batch.key, None)
        if not batch.run_id:
            self.problem = ""
        await store.write(queue.put, batch, made, form=form.name)

    async def _made(self, batch: Batch) -> list[queue.Packed]:
        form = form_of(self.workspace)
        found = await self.workspace.service(Embeddings).embed(
            batch.texts,
            model=form.model,
            dimensions=form.dimensions,
            account=batch.run_id or f"meaning:{batch.owner_id}:{self.workspace.clock.now() // DAY_MS}",
            user_id=batch.owner_id or None,
            within_s=CALL_S,
        )
        return await self.workspace.threads.run(_packed, found)

    async def _failed(self, batch: Batch, fault: EmbeddingFault) -> None:
        failures = (self._paused[batch.key].failures if batch.key in self._paused else 0) + 1
        self.workspace.log.warning("meaning.no_vectors", reason=str(fault), run=batch.run_id, tries=failures)
        if batch.run_id and (not fault.passing or failures >= TRIES):
            self._paused.pop(batch.key, None)
            await self.workspace.store.write(queue.fail_run, batch.run_id, str(fault))
            return
        if not batch.run_id:
            self.problem = str(fault)
        pause_s = HOUR_S if not fault.passing else max(_RETRIES.pause_s(failures), min(fault.pause_s or 0.0, HOUR_S))
        self._paused[batch.key] = _Paused(trio.current_time() + pause_s, failures)


def _packed(found: list[list[float]]) -> list[queue.Packed]:
    return [vectors.packed(one) for one in found]


def _problem(tx: ReadTx, *, workspace: Workspace) -> str:
    return problem(workspace, tx)
