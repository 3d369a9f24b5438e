"""The blob clean-up: removes blobs that no row names any more.

A blob is stored before a row names it, so one without a row may be about to get one. So a blob is removed only if it
was last stored a day ago, if no row names it, and if both are still true after a pause: even if the wall clock jumps,
that pause is longer than the time from storing any blob to committing its row. The features' invariants for ``svc
fsck`` say which blobs are named (``Invariant`` with ``yields="blobs"``), so the two can't disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import trio

from svc.clock import DAY_MS, Clock
from svc.files import actions
from svc.job import Job
from svc.log import Log
from svc.nursery import ThreadPool
from svc.store import Blobs, Invariant, ReadTx, Store
from svc.workspace import Workspace

CLEAN_UP_INTERVAL_S: Final = 6 * 3600.0
SETTLE_S: Final = 600.0
MIN_AGE_MS: Final = DAY_MS
BATCH_BLOBS: Final = 50_000  # looked up at once: some 10 MB
REMOVED_AT_ONCE: Final = 200  # storing waits meanwhile

Stored = Mapping[str, int]
"""Blobs, each with the time it was last stored, in nanoseconds."""


@dataclass(kw_only=True)
class BlobCleanUp:
    """``references`` are the invariants that yield blobs; ``batch_blobs`` are looked up at once."""

    store: Store
    blobs: Blobs
    clock: Clock
    threads: ThreadPool
    references: Sequence[Invariant]
    log: Log
    batch_blobs: int = BATCH_BLOBS

    async def run(self) -> int:
        """One round over all blobs. Returns how many were removed."""
        removed = 0
        old = self.blobs.each_old(before=self.clock.now() - MIN_AGE_MS)
        while batch := await self.threads.run(_next, old, self.batch_blobs):
            removed += await self._clean_up(batch)
        if removed:
            self.log.info("files.blobs_removed", count=removed)
        return removed

    async def _clean_up(self, batch: Stored) -> int:
        unnamed = await self.store.read(_unnamed, batch, self.references)
        if not unnamed:
            return 0
        await trio.sleep(SETTLE_S)
        unnamed = await self.store.read(_unnamed, unnamed, self.references)
        removed = 0
        for part in _parts(unnamed):
            removed += await self.threads.run(self.blobs.remove_old, part)
        return removed


def _unnamed(tx: ReadTx, stored: Stored, references: Sequence[Invariant]) -> Stored:
    """Those of ``stored`` that no row names."""
    left = dict(stored)
    for reference in references:
        for sha256 in reference.check(tx):
            left.pop(sha256, None)
    return left


def _next(old: Iterator[tuple[str, int]], size: int) -> Stored:
    return dict(islice(old, size))


def _parts(stored: Stored) -> Iterator[Stored]:
    items = iter(stored.items())
    while part := dict(islice(items, REMOVED_AT_ONCE)):
        yield part


async def _clean_up_blobs(workspace: Workspace) -> None:
    clean_up = BlobCleanUp(
        store=workspace.store,
        blobs=workspace.blobs,
        clock=workspace.clock,
        threads=workspace.threads,
        references=[row for feature in workspace.features for row in feature.invariants if row.yields == "blobs"],
        log=workspace.log,
    )
    await clean_up.run()


async def _forget_deleted(workspace: Workspace) -> None:
    await workspace.store.write(actions.forget_deleted)


JOBS: Final = (
    Job(
        name="blob-clean-up",
        summary="Removes blobs that nothing names any more.",
        run=_clean_up_blobs,
        every_s=CLEAN_UP_INTERVAL_S,
        at_once=False,
    ),
    Job(
        name="deleted-files",
        summary="Forgets deleted uploads that can't be brought back any more.",
        run=_forget_deleted,
        every_s=CLEAN_UP_INTERVAL_S,
    ),
)
