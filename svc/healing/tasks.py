"""The loops of healing: one records and mends the damage that readers found, and a slow check finds damage that nobody
has read yet.

One blob is mended at a time, even if many readers found damage. A blob that can't be mended now is tried again after
growing pauses; one that nobody can mend is tried again with each round of the check.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

import trio
from msgspec import structs

from svc.backoff import Retries
from svc.clock import DAY_MS, SECOND_MS, Clock, Millis
from svc.errors import Refusal
from svc.healing import queries
from svc.healing.model import Later, Lost, Mended, Mender, Outcome
from svc.healing.queries import Names, Place, Round
from svc.log import Log
from svc.nursery import Child, ThreadPool, Wake, open_task_group
from svc.store import BlobCorrupt, BlobMissing, Blobs, Invariant, Store, Tx, damage

RETRIES: Final = Retries(first_s=60.0, cap_s=6 * 3_600.0)
LOOK_AGAIN_S: Final = 600.0
UNWRITABLE_PAUSE_S: Final = 60.0
"""The pause after the damage could not be recorded, as on a full disk."""

CHECK_STARTS_S: Final = 600.0
"""The pause after boot, so that the rest of the service starts first."""
ROUND_MS: Final = 7 * DAY_MS
NAMES_AT_A_TIME: Final = 20_000
KEEP_PLACE_EVERY: Final = 200
"""Blobs between two saves of the position: after a crash as many are read again."""
SMALLEST_BYTES: Final = 4_096
"""Every blob counts as at least this many bytes, for the cost of opening a file."""

NOBODY: Final = "No other copy of these bytes is known here. Uploading the same file again mends it."
_FAILED: Final = "It could not be mended, for a reason that stands in the log of this server."


@dataclass(kw_only=True)
class Healer:
    """``references`` are the invariants that yield blobs; ``rate`` is in bytes a second, 0 for no check."""

    store: Store
    blobs: Blobs
    clock: Clock
    threads: ThreadPool
    log: Log
    references: Sequence[Invariant]
    rate: int
    _menders: list[Mender] = field(default_factory=list)
    _found: Wake = field(default_factory=Wake)
    _due: Wake = field(default_factory=Wake)
    _one_at_a_time: trio.Lock = field(default_factory=trio.Lock)
    """Held while a blob is mended, and while the check forgets damaged blobs that nothing references. Mending reads the
    blob: if the check forgot it meanwhile, it would be found and recorded again."""

    def add(self, mender: Mender) -> None:
        """Menders are asked in the order in which they are added."""
        self._menders.append(mender)

    async def run(self, child: Child) -> None:
        suspects = self.blobs.suspects
        suspects.recall(await self.store.read(damage.still_damaged))
        token = trio.lowlevel.current_trio_token()
        suspects.on_news = lambda: token.run_sync_soon(self._hear, idempotent=True)  # from any thread
        child.started()
        try:
            async with open_task_group() as nursery:
                nursery.start_soon(self._record_for_ever)
                nursery.start_soon(self._mend_for_ever)
                if self.rate:
                    nursery.start_soon(self._check_for_ever)
        finally:
            suspects.on_news = _nobody_listens

    def _hear(self) -> None:
        self._found.call()

    # Recording

    async def _record_for_ever(self) -> None:
        while True:
            news = self.blobs.suspects.take_news()
            if news:
                for sha256, harm in news.items():
                    self.log.error("healing.found", sha256=sha256, harm=harm or "stored again")
                try:
                    await self.store.write(damage.record, news)
                except Refusal:  # a full disk; memory still has the damage
                    self.blobs.suspects.give_back(news)
                    await trio.sleep(UNWRITABLE_PAUSE_S)
                    continue
                self._due.call()
            await self._found.wait()

    # Mending

    async def _mend_for_ever(self) -> None:
        while True:
            try:
                pause_s = await self._mend_due()
            except Refusal:
                pause_s = UNWRITABLE_PAUSE_S
            await self._due.wait(at_most_s=pause_s)

    async def _mend_due(self) -> float:
        """Mends all blobs that are due, one after the other. Returns the time until the next one may be due."""
        while await self._mend_one():
            pass
        next_due = await self.store.read_small(damage.next_due)
        if next_due is None:
            return LOOK_AGAIN_S
        return min(LOOK_AGAIN_S, max(1.0, (next_due - self.clock.now()) / SECOND_MS))

    async def _mend_one(self) -> bool:
        """Mends the next blob that is due. Returns False if none is."""
        async with self._one_at_a_time:
            one = await self.store.read_small(damage.due)
            if one is None:
                return False
            outcome = await self._mend(one.sha256)
            next_at = self.clock.now() + round(_pause_s(outcome, one.attempts) * SECOND_MS)
            await self.store.write(self._settle, one.sha256, outcome, next_at=next_at)
            if isinstance(outcome, Mended):
                self.blobs.suspects.mended(one.sha256)  # only now: damage found after this is new damage
        self.log.info("healing.tried", sha256=one.sha256, outcome=type(outcome).__name__)
        return True

    async def _mend(self, sha256: str) -> Outcome:
        if await self.threads.run(self.blobs.is_sound, sha256):
            return Mended()
        for mender in self._menders:
            try:
                outcome = await mender.mend(sha256)
            except Refusal as refusal:  # a full disk above all
                return Later(reason=refusal.detail)
            except Exception as error:  # an edge: one blob that can't be mended must not keep the others
                self.log.error("healing.mender_failed", error, sha256=sha256)
                return Later(reason=_FAILED)
            if outcome is not None:
                return outcome
        return Lost(reason=NOBODY)

    def _settle(self, tx: Tx, sha256: str, outcome: Outcome, *, next_at: Millis) -> None:
        if isinstance(outcome, Later):
            damage.put_off(tx, sha256, reason=outcome.reason, next_at=next_at)
        elif isinstance(outcome, Lost):
            damage.given_up(tx, sha256, reason=outcome.reason)
        else:
            damage.mended(tx, sha256, became=outcome.became)
            for mender in self._menders:
                mender.tell(tx, outcome.became or sha256)

    # Checking

    async def _check_for_ever(self) -> None:
        await trio.sleep(CHECK_STARTS_S)
        while True:
            try:
                await self.check()
            except (
                Refusal
            ) as refusal:  # the position can't be saved; after a restart the round goes on from the last saved one
                self.log.warning("healing.check_put_off", reason=refusal.detail)
            await trio.sleep(LOOK_AGAIN_S)

    async def check(self) -> None:
        """Reads from the saved position to the end of the round; does nothing while no round is due."""
        place = await self.store.read(queries.place)
        now = self.clock.now()
        if place.began_at is None or (not place.after and not 0 <= now - place.began_at < ROUND_MS):
            place = Place(began_at=now, last=place.last)
            await self.store.write(_begin_round, place)
            self._due.call()
        elif not place.after:
            return
        done = False
        while not done:
            found = await self.store.read(
                queries.names_after, self.references, after=place.after, limit=NAMES_AT_A_TIME
            )
            place = await self._check_names(place, found)
            done = found.last
        place = self._ended(place)
        self.log.info("healing.checked", blobs=place.blobs, bytes=place.bytes)
        await self.store.write(queries.keep_place, place)

    def _ended(self, place: Place) -> Place:
        now = self.clock.now()
        done = Round(began_at=place.began_at or now, ended_at=now, blobs=place.blobs, bytes=place.bytes)
        return Place(began_at=place.began_at, blobs=place.blobs, bytes=place.bytes, last=done)

    async def _check_names(self, place: Place, found: Names) -> Place:
        began = place
        for start in range(0, len(found.names), KEEP_PLACE_EVERY):
            group = found.names[start : start + KEEP_PLACE_EVERY]
            size = 0
            for sha256 in group:
                size += await self._check_one(sha256)
            await self.threads.run(self.blobs.settle, group)
            place = structs.replace(place, after=group[-1], blobs=place.blobs + len(group), bytes=place.bytes + size)
            await self.store.write(queries.keep_place, place)
        up_to = None if found.last else found.names[-1]
        async with self._one_at_a_time:
            gone = await self.store.write(
                damage.forget_unnamed, after=began.after, up_to=up_to, named=frozenset(found.names)
            )
            for sha256 in gone:
                self.blobs.suspects.mended(sha256)
        return place

    async def _check_one(self, sha256: str) -> int:
        """Reads the blob, no faster than allowed; returns the number of bytes. The reading itself records damage."""
        await trio.sleep(SMALLEST_BYTES / self.rate)
        size = 0
        try:
            async with aclosing(self.blobs.stream(sha256)) as pieces:
                async for piece in pieces:
                    size += len(piece)
                    await trio.sleep(len(piece) / self.rate)
        except (BlobMissing, BlobCorrupt):
            pass
        return size


def _begin_round(tx: Tx, place: Place) -> None:
    damage.ask_again(tx)
    queries.keep_place(tx, place)


def _pause_s(outcome: Outcome, attempts: int) -> float:
    if not isinstance(outcome, Later):
        return 0.0
    return max(outcome.pause_s, RETRIES.pause_s(attempts + 1))


def _nobody_listens() -> None:
    return None
