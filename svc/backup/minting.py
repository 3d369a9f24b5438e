"""Makes recovery points: one is made once the archive and the replica both hold the complete state of one moment.

At most one a minute, and none while nothing changes. The moment is between two commits: nothing is written while the
archiver reports its position, which takes milliseconds. The names of the blobs are then read from exactly that state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import trio

from svc import replica
from svc.backup.archive import Archive
from svc.backup.archiver import Archiver
from svc.backup.litestream import ArchiveFault
from svc.backup.points import SIGNING, BlobsAt, Point, digest_of, point_of, public_of, schema_of, sign, surplus
from svc.capabilities import MasterKey
from svc.clock import Millis
from svc.ids import new_id
from svc.nursery import Child, ThreadPool
from svc.replica import Target
from svc.store import Blobs, Invariant, ReadTx, newest

PAUSE_S: Final = 60.0
SOON_S: Final = 5.0
"""Pause while data are being sent."""
SHARE: Final = 20
"""A round is followed by a pause this many times as long: a large home is not read all the time."""
SENT_S: Final = 60.0
"""How long a moment may take to reach the target before another one is tried."""


@dataclass(kw_only=True)
class Minting:
    """The subsystem. ``references``: the invariants that yield the blobs that must be stored."""

    archive: Archive
    archiver: Archiver
    beyond: Target | None
    master_key: MasterKey
    references: tuple[Invariant, ...]
    blobs: Blobs
    threads: ThreadPool
    home: str
    waits_for: str = ""
    """Why there is no current point; empty where there is one, or nothing is wrong."""
    _pinned: Millis | None = None

    async def run(self, child: Child) -> None:
        child.started()
        while True:
            await self.archive.changed.wait(at_most_s=PAUSE_S)
            while self.archive.runs:
                began = trio.current_time()
                made = await self.round()
                pause_s = PAUSE_S if made is not None or not self.waits_for else SOON_S
                await trio.sleep(max(pause_s, SHARE * (trio.current_time() - began)))

    async def round(self) -> Point | None:
        """Make a point if there is a new state."""
        if self.beyond is None:
            self.waits_for = "Mail and files are not copied to a place of their own yet (SVC_BLOB_REPLICA_URL)."
            return None
        try:
            return await self._mint()
        except ArchiveFault as fault:
            self.waits_for = f"The archive: {fault}."
            return None

    async def _mint(self) -> Point | None:
        catalogue = self.archive.catalogue
        points = await self.threads.run(catalogue.points)
        position = await self.archiver.position()
        if points and points[0].position == position.txid:
            return None
        key, seed = await self.threads.run(self.master_key.derived, SIGNING)
        query = partial(self._manifest, point=partial(point_of, home=self.home, key=key, point_id=new_id("rp")))
        position, (complete, pending, made) = await self.archive.store.at_one_moment(self.archiver.position, query)
        if not complete:
            self.waits_for = (
                f"{pending} blobs are on their way to the replica." if pending else "The replica is looked through."
            )
            return None
        await self._sent(position.txid)
        point = made(position=position.txid)
        gone = surplus([point, *points], now=self.archive.clock.now())
        public = await self.threads.run(public_of, seed)
        await self.threads.run(
            partial(catalogue.add, key=public, without=gone), await self.threads.run(sign, point, seed), point
        )
        self.waits_for = ""
        kept = [one.at for one in (point, *points) if one.id not in gone]
        left = await self.threads.run(catalogue.left_since, self.archive.clock.now())
        await self._pin(min(kept if left is None else [*kept, left]))
        return point

    async def _pin(self, oldest: Millis) -> None:
        """Keep the blobs that any kept point names in the replica, also one of an archive that was left. Written only
        when it changed, because writing is itself a change."""
        if self._pinned != oldest:
            self._pinned = oldest
            await self.archive.store.write(replica.keep_since, oldest)

    def _manifest(self, tx: ReadTx, *, point: Callable[..., Point]) -> tuple[bool, int, Callable[..., Point]]:
        """In a thread, on that state: whether the replica has all blobs, how many it lacks, and the point without its
        position."""
        names = names_in(tx, self.references)
        found = BlobsAt(len(names), sum(self.blobs.size_now(name) or 0 for name in names), digest_of(names))
        made = partial(point, at=tx.now, blobs=found, sequence=newest(tx), schema=schema_of(tx))
        return replica.is_complete(tx), replica.pending(tx), made

    async def _sent(self, txid: int) -> None:
        with trio.move_on_after(SENT_S):
            while (await self.archiver.position(wait_s=10)).replicated_txid < txid:  # noqa: ASYNC110  it is asked
                await trio.sleep(0.5)
            return
        raise ArchiveFault("the target does not take what was written")


def names_in(tx: ReadTx, references: tuple[Invariant, ...]) -> set[str]:
    return {name for one in references for name in one.check(tx)}
