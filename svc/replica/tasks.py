"""The loops of the replica: one uploads waiting blobs, several at the same time; one makes a full check each night.

For each blob only one exchange runs at a time, so that its upload and its removal never overlap. A fault of the target
delays all uploads, with growing pauses; a fault of a single blob delays only that one.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

import trio

from svc.backoff import Retries
from svc.clock import HOUR_MS, SECOND_MS, Clock
from svc.errors import Refusal
from svc.log import Log
from svc.nursery import Child, Wake, open_task_group
from svc.replica import rows
from svc.replica.rows import Due, ReplicaStatus
from svc.replica.target import Target, TargetFault
from svc.store import BlobCorrupt, BlobMissing, BlobRef, Blobs, Invariant, Store

UPLOADS: Final = 8
"""Uploads at the same time."""
BATCH: Final = 256
"""Blobs taken from the queue at once."""
LOOK_EVERY_S: Final = 2.0
TARGET_RETRIES: Final = Retries(first_s=5.0, cap_s=900.0)
BLOB_RETRIES: Final = Retries(first_s=30.0, cap_s=6 * 3_600.0)
NIGHT: Final = range(3, 6)
"""Hours of the local day in which the full check runs. A machine that is off then makes it when it is on."""
NIGHTLY_MS: Final = 20 * HOUR_MS
LATEST_MS: Final = 30 * HOUR_MS
CHECK_LOOK_S: Final = 600.0


@dataclass(kw_only=True)
class Replicator:
    """``references`` are the invariants that yield blobs. Without a ``target`` there is no replica."""

    target: Target | None
    store: Store
    blobs: Blobs
    clock: Clock
    rng: random.Random
    log: Log
    references: Sequence[Invariant]
    wake: Wake = field(default_factory=Wake)
    _busy: dict[str, trio.Lock] = field(default_factory=dict)
    _checking: trio.Lock = field(default_factory=trio.Lock)
    _failures: int = 0

    async def status(self) -> ReplicaStatus:
        return await self.store.read(rows.status)

    async def run(self, child: Child) -> None:
        """Run until the intake is cancelled."""
        assert self.target is not None, "there is one where this runs"
        child.started()
        async with open_task_group() as nursery:
            nursery.start_soon(self._upload_for_ever, self.target)
            nursery.start_soon(self._check_for_ever)

    # Uploading

    async def _upload_for_ever(self, target: Target) -> None:
        while True:
            pause_s = await self.upload(target)
            await self.wake.wait(at_most_s=pause_s)

    async def upload(self, target: Target) -> float:
        """Upload all that is due. Returns how long to wait then."""
        fault: TargetFault | None = None
        try:
            while due := await self.store.read_small(rows.due, limit=BATCH):
                fault = await self._each([one.sha256 for one in due], self._uploading(target, due))
                if fault is not None:
                    break
        except Refusal as refusal:  # our own disk is full
            self.log.warning("replica.put_off", why=refusal.detail)
            return TARGET_RETRIES.cap_s
        if fault is None:
            return LOOK_EVERY_S
        self._failures += 1
        if await self.store.write(rows.went_wrong, fault.words):
            self.log.warning("replica.target_fails", why=fault.words)
        return max(fault.pause_s, TARGET_RETRIES.pause_s(self._failures, self.rng))

    def _uploading(self, target: Target, due: Sequence[Due]) -> Callable[[str], Awaitable[None]]:
        by_name = {one.sha256: one for one in due}

        async def upload(sha256: str) -> None:
            await self._upload_one(target, by_name[sha256])

        return upload

    async def _upload_one(self, target: Target, one: Due) -> None:
        sha256 = one.sha256
        try:
            size = await self.blobs.size(sha256)
            if size is None:
                raise BlobMissing("It is missing here.")
            if one.buried:
                await target.unbury(sha256)
            await target.put(self.blobs, BlobRef(sha256, size))
        except TargetFault as fault:
            if fault.whole:
                raise
            await self._put_off(one, fault.words, fault.pause_s)
        except (BlobMissing, BlobCorrupt) as damage:
            is_missing = isinstance(damage, BlobMissing)
            self.blobs.doubt(sha256, size=None if is_missing else 0)
            what = "missing" if is_missing else "damaged"
            await self._put_off(one, f"A mail or a file is {what} here (blob {sha256[:12]}).", 0.0)
        else:
            await self.store.write(rows.arrived, sha256)
            self._failures = 0

    async def _put_off(self, one: Due, problem: str, pause_s: float) -> None:
        pause_s = max(pause_s, BLOB_RETRIES.pause_s(one.attempts + 1, self.rng))
        retry_at = self.clock.now() + round(pause_s * SECOND_MS)
        self.log.warning("replica.blob_put_off", sha256=one.sha256, why=problem)
        await self.store.write(rows.put_off, one.sha256, problem=problem, retry_at=retry_at)

    async def _each(self, names: Sequence[str], work: Callable[[str], Awaitable[None]]) -> TargetFault | None:
        """Work on several at the same time. After the first fault of the target, running work finishes and no more
        begins."""
        left = iter(names)
        faults: list[TargetFault] = []

        async def worker() -> None:
            for sha256 in left:
                try:
                    async with self._alone(sha256):
                        await work(sha256)
                except TargetFault as fault:
                    faults.append(fault)
                if faults:
                    return

        async with open_task_group() as nursery:
            for _ in range(min(UPLOADS, len(names))):
                nursery.start_soon(worker)
        return faults[0] if faults else None

    @asynccontextmanager
    async def _alone(self, sha256: str) -> AsyncIterator[None]:
        """Excludes other exchanges about this blob."""
        lock = self._busy.setdefault(sha256, trio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked() and not lock.statistics().tasks_waiting:
                self._busy.pop(sha256, None)

    # The full check

    async def _check_for_ever(self) -> None:
        while True:
            if self._is_time(await self.store.read_small(rows.compared_at)):
                try:
                    await self.full_check()
                except Refusal as refusal:
                    self.log.warning("replica.check_put_off", why=refusal.detail)
            await trio.sleep(CHECK_LOOK_S)

    def _is_time(self, compared_at: int | None) -> bool:
        if compared_at is None:
            return True
        now = self.clock.now()
        since = now - compared_at
        at_night = datetime.fromtimestamp(now / SECOND_MS).astimezone().hour in NIGHT
        return since < 0 or since >= LATEST_MS or (at_night and since >= NIGHTLY_MS)

    async def full_check(self) -> None:
        """Compare the queue with all references, then check the held blobs and remove those that are due.

        If the target fails in the middle, the queue is still right; the rest waits for the next night.
        """
        target = self.target
        assert target is not None
        async with self._checking:
            first = await self.store.read(rows.compared_at) is None
            unnamed: dict[str, int] = {}
            of = await self.store.read(rows.parts)
            for part in range(of):
                found = await self.store.read(rows.look, self.references, part=part, of=of)
                await self.store.write(rows.record, found)
                unnamed |= found.unnamed
            await self.store.write(rows.all_compared)
            self.wake.call()
            self.log.info("replica.checked", unnamed=len(unnamed))
            if first:
                return
            for task in (partial(self._remove, unnamed=unnamed), self._bury, self._read_back):
                fault = await task(target)
                if fault is not None:  # one that is refused must not stop the others
                    self.log.warning("replica.check_met", why=fault.words)

    async def _bury(self, target: Target) -> TargetFault | None:
        async def bury(sha256: str) -> None:
            if await self.store.write(rows.burying, sha256):
                await target.bury(sha256)
                await self.store.write(rows.buried, sha256, at=self.clock.now())

        while names := await self.store.read(rows.to_bury, limit=BATCH):
            fault = await self._each(names, bury)
            if fault is not None:
                return fault
        return None

    async def _remove(self, target: Target, *, unnamed: dict[str, int]) -> TargetFault | None:
        """Remove blobs whose tombstone is seven days old, by our clock and by the target's."""

        async def remove(sha256: str) -> None:
            try:
                age_ms = await target.buried_for_ms(sha256)
            except LookupError:
                await self.store.write(rows.buried, sha256, at=None)
                return
            if age_ms is not None and age_ms < rows.TOMBSTONE_MS:
                return
            if not await self.store.write(rows.deleting, sha256, named=unnamed[sha256]):
                return
            try:
                await target.delete(sha256)
            except TargetFault as fault:
                await self.store.write(rows.not_deleted, sha256)
                if fault.whole:
                    raise
                return
            await self.store.write(rows.deleted, sha256)

        return await self._each(await self.store.read(rows.to_delete, named=unnamed), remove)

    async def _read_back(self, target: Target) -> TargetFault | None:
        """Read a fourteenth of the held blobs and compare them; for the others, only ask whether the target has
        them."""
        part = await self.store.write(rows.next_part)
        lost: list[str] = []

        async def look(sha256: str) -> None:
            if int(sha256[:8], 16) % rows.PART_OF == part:
                is_good = await target.is_sound(sha256)
            else:
                size = await self.blobs.size(sha256)
                is_good = await target.has(sha256, size=size) or await self._is_ours_damaged(target, sha256)
            if not is_good:
                lost.append(sha256)

        after = ""
        while names := await self.store.read(rows.held, after=after, limit=BATCH):
            fault = await self._each(names, look)
            if lost:
                self.log.error("replica.lost_there", blobs=len(lost))
                await self.store.write(rows.lost, tuple(lost))
                lost.clear()
                self.wake.call()
            if fault is not None:
                return fault
            after = names[-1]
        return None

    async def _is_ours_damaged(self, target: Target, sha256: str) -> bool:
        """The sizes differ: the hash says whether theirs is good. Ours is read too, so that its damage is known."""
        if not await target.is_sound(sha256):
            return False
        with suppress(BlobMissing, BlobCorrupt):
            async with aclosing(self.blobs.stream(sha256)) as pieces:
                async for _ in pieces:
                    pass
        return True
