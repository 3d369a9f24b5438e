"""The hourly check: asks the archive which of its files a restore would use, of the database and of the ledger. They
must reach from a whole copy to the last sent change. Of the content it reads the ledger only, which says whether
another copy of the home writes there, too; the nightly drill reads all.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from svc.backup.archive import Archive
from svc.backup.archiver import Archiver
from svc.backup.litestream import ArchiveFault, Litestream
from svc.backup.writers import AnotherWriter, DamagedLedger, archived_ledger, refuse_another
from svc.clock import HOUR_MS, MINUTE_MS, SECOND_MS, Millis
from svc.nursery import ThreadPool

SOON_MS: Final = 30 * SECOND_MS
"""Pause while the archiver does not run yet."""


@dataclass(kw_only=True)
class Hourly:
    """An unreachable target is no fault of the archive: the archiver reports that."""

    archive: Archive
    archiver: Archiver
    threads: ThreadPool

    async def run(self) -> Millis:
        """Check now. Returns when to check again."""
        archive, tool = self.archive, self.archive.tool
        if tool is None or archive.synced_at is None or archive.problem_of("archiver") is not None:
            return archive.clock.now() + SOON_MS
        try:
            sent = (await self.archiver.position()).replicated_txid
        except ArchiveFault:  # not running now, or the database is released for a base backup
            return archive.clock.now() + SOON_MS
        await archive.note("hourly look", await self._fault(tool, sent))
        return archive.clock.now() + (HOUR_MS if self.archiver.has_looked else MINUTE_MS)

    async def _fault(self, tool: Litestream, sent: int) -> str | None:
        try:
            config = await self.threads.run(partial(self.archiver.written_config, tool, parts=("db", "ledger")))
            theirs = await archived_ledger(tool, config, self.threads)
            await self.threads.run(partial(self._refuse_another, theirs))
            self.archiver.has_looked = True
            reaches = await tool.reaches(config, "db")
        except (AnotherWriter, DamagedLedger) as fault:
            if isinstance(fault, DamagedLedger) and self.archiver.has_looked:
                return f"a restore would not work: {fault}"  # the next whole copy replaces it
            await self.archiver.give_way()  # the next one looks again, and tells
            return None
        except ArchiveFault as fault:
            return f"a restore would not work: {fault}"
        if not theirs:
            return "a restore would not work: the ledger of the archive is gone"
        with suppress(ArchiveFault):  # it may have ended meanwhile
            ours = (await self.archiver.position()).txid
            if reaches > ours:
                return (
                    f"the archive ends at {reaches:x}, and this home at {ours:x}: another copy of it writes there, too"
                )
        if reaches < sent:
            return f"a restore would end at {reaches:x}, and {sent:x} was sent: files are missing in the archive"
        return None

    def _refuse_another(self, theirs: Mapping[str, bytes]) -> None:
        archive = self.archive
        refuse_another(archive.catalogue, theirs, home=self.archiver.home.id, place=archive.target.place)
