"""The check of the archive: asks it which of its files a restore would use, of the database and of the ledger. They
must reach from a whole copy to the last sent change; what is missing is sent again. Of the content it reads the ledger
only, which says whether another copy of the home writes there, too; the nightly drill reads all.

It checks a minute after the start, then after twice as long each time: two copies that were started at the same moment
did not see each other, and are to mix little. Later a folder, of which a check costs nothing, is checked more often
than a place that takes money for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from svc.backup.archive import Archive
from svc.backup.archiver import Archiver
from svc.backup.litestream import ArchiveFault, Litestream, says_files_are_missing, says_nothing_is_there
from svc.backup.writers import AnotherWriter, DamagedLedger, archived_ledger, refuse_another
from svc.clock import HOUR_MS, MINUTE_MS, SECOND_MS, Millis
from svc.nursery import ThreadPool

NOT_YET_MS: Final = 30 * SECOND_MS
"""Pause while the archiver does not run yet."""
FIRST_MS: Final = MINUTE_MS
"""Pause after the first check, and after something was sent again."""
FOLDER_MS: Final = 10 * MINUTE_MS
"""The longest pause if the archive is a folder."""
LONGEST_MS: Final = HOUR_MS


@dataclass(kw_only=True)
class ArchiveCheck:
    """An unreachable target is no fault of the archive: the archiver reports that. ``back_up`` makes a base backup."""

    archive: Archive
    archiver: Archiver
    threads: ThreadPool
    back_up: Callable[[], Awaitable[object]]
    _pause_ms: Millis = FIRST_MS
    _is_mixed: bool = False
    """Another copy of the home wrote more than this one, as of the last check."""

    async def run(self) -> Millis:
        """Check now. Returns when to check again."""
        archive, tool = self.archive, self.archive.tool
        if tool is None or archive.synced_at is None or archive.problem_of("archiver") is not None:
            return archive.clock.now() + NOT_YET_MS
        try:
            sent = (await self.archiver.position()).replicated_txid
        except ArchiveFault:  # not running now, or the database is released for a base backup
            return archive.clock.now() + NOT_YET_MS
        pause_ms = self._pause_ms
        longest_ms = FOLDER_MS if archive.target.place.kind == "file" else LONGEST_MS
        self._pause_ms = min(2 * pause_ms, longest_ms)
        await archive.note("archive check", await self._fault(tool, sent))
        return archive.clock.now() + (min(pause_ms, self._pause_ms) if self.archiver.has_looked else MINUTE_MS)

    async def _fault(self, tool: Litestream, sent: int) -> str | None:
        try:
            config = await self.threads.run(partial(self.archiver.written_config, tool, parts=("db", "ledger")))
            await self.archiver.send_ledger()  # what it says of this home is to be the newest
            theirs = await archived_ledger(tool, config, self.threads)
            await self.threads.run(partial(self._refuse_another, theirs))
            self.archiver.has_looked = True
            if not theirs:
                return await self._look_again("the ledger of the archive is gone from")
            if not await self.threads.run(partial(self.archive.catalogue.has_line_of, theirs)):
                return await self._look_again("another archive of this home is now at")
            return await self._fault_of_database(tool, config, sent)
        except (AnotherWriter, DamagedLedger) as fault:
            if isinstance(fault, DamagedLedger) and self.archiver.has_looked:
                return f"a restore would not work: {fault}"  # the next whole copy replaces it
            await self.archiver.give_way()  # the next one looks again, and tells
            return None
        except ArchiveFault as fault:
            return f"a restore would not work: {fault}"

    async def _fault_of_database(self, tool: Litestream, config: Path, sent: int) -> str | None:
        try:
            reaches = await tool.reaches(config, "db")
        except ArchiveFault as fault:
            if says_nothing_is_there(str(fault)):
                return await self._look_again("the archived database is gone from")
            if says_files_are_missing(str(fault)):
                return await self._whole_copy("files are missing in the archive")
            raise
        with suppress(ArchiveFault):  # it may have ended meanwhile
            ours = (await self.archiver.position()).txid
            if reaches > ours:
                self._is_mixed = True
                return (
                    f"the archive ends at {reaches:x}, and this home at {ours:x}: another copy of it writes there, too"
                )
        if self._is_mixed:
            self._is_mixed = False
            return await self._whole_copy("another copy of this home wrote to the archive, too")
        if reaches < sent:
            return await self._whole_copy(
                f"a restore would end at {reaches:x}, and {sent:x} was sent: files are missing in the archive"
            )
        return None

    async def _whole_copy(self, why: str) -> str:
        """Send one: a restore of the newest state needs nothing from before it."""
        self._pause_ms = FIRST_MS
        told = f"{why}; a full copy is sent now, and some moments before it can't be restored"
        await self.archive.note("archive check", told)
        await self.back_up()
        return told

    async def _look_again(self, why: str) -> str:
        """Have the next archiver look at the place, and send what is not there."""
        self._pause_ms = FIRST_MS
        told = f"{why} {self.archive.target.place}; what is missing is sent again: see whether this is the right place"
        await self.archive.note("archive check", told)
        await self.archiver.give_way()
        return told

    def _refuse_another(self, theirs: Mapping[str, bytes]) -> None:
        archive = self.archive
        refuse_another(archive.catalogue, theirs, home=self.archiver.home.id, place=archive.target.place)
