"""The check of the archive: asks it which of its files a restore would use, of the database and of the ledger. They
must reach from a whole copy to the last sent change; what is missing is sent again. Of the content it reads the ledger
only, which says whether another copy of the home writes there, too; the nightly drill reads all.

It checks a minute after the start, then after twice as long each time: two copies that were started at the same moment
did not see each other, and must be found soon, before they mix much. Later a folder is checked more often than other
places, because a check of a folder costs no money.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import trio

from svc.backup.archive import Archive
from svc.backup.archiver import Archiver
from svc.backup.litestream import ArchiveFault, Litestream, says_files_are_missing, says_nothing_is_there
from svc.backup.writers import AnotherWriter, DamagedLedger, archived_ledger, refuse_another
from svc.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Millis
from svc.nursery import ThreadPool

NOT_YET_MS: Final = 30 * SECOND_MS
"""Pause while the archiver does not run yet."""
FIRST_MS: Final = MINUTE_MS
"""Pause after the first check, and after something was sent again."""
FOLDER_MS: Final = 10 * MINUTE_MS
"""The longest pause if the archive is a folder."""
LONGEST_MS: Final = HOUR_MS
AGAIN_MS: Final = 2 * MINUTE_MS
"""Pause after something was sent twice in a row, until it is sent once more; then each time twice as long."""
AGAIN_LONGEST_MS: Final = DAY_MS
"""The longest such pause. A place that loses everything then gets one full copy a day, as a sound place does."""


@dataclass(kw_only=True)
class ArchiveCheck:
    """An unreachable target is no fault of the archive: the archiver reports that. ``back_up`` makes a base backup, and
    returns ``None`` where that failed."""

    archive: Archive
    archiver: Archiver
    threads: ThreadPool
    back_up: Callable[[], Awaitable[object | None]]
    _pause_ms: Millis = FIRST_MS
    _again_ms: Millis = 0
    _again_at: float = 0.0
    """When something may be sent again, by Trio's clock."""
    _failed: bool = False
    """The last attempt to send something again failed."""
    _theirs: int = 0
    """The end of the archive when another copy of the home was last seen to have written more than this one. 0: not
    seen, or a full copy was sent since."""

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
        fault = await self._fault(tool, sent)
        await archive.note("archive check", fault)
        if fault is None and pause_ms == longest_ms:  # no fault for the whole pause
            self._again_ms, self._again_at = 0, 0.0
        return archive.clock.now() + (min(pause_ms, self._pause_ms) if self.archiver.has_looked else MINUTE_MS)

    async def _fault(self, tool: Litestream, sent: int) -> str | None:
        try:
            config = await self.threads.run(partial(self.archiver.written_config, tool, parts=("db", "ledger")))
            await self.archiver.send_ledger()  # so that the archived ledger has the newest state of this home
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
            await self.archiver.give_way()  # the next check reports it
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
        ours = reaches
        with suppress(ArchiveFault):  # it may have ended meanwhile
            ours = (await self.archiver.position()).txid
        if reaches > ours:
            return await self._after_theirs(reaches, ours)
        if self._theirs:
            return await self._whole_copy("another copy of this home wrote to the archive, too")
        if reaches < sent:
            return await self._whole_copy(
                f"a restore would end at {reaches:x}, and {sent:x} was sent: files are missing in the archive"
            )
        return None

    async def _after_theirs(self, reaches: int, ours: int) -> str:
        """Another copy wrote more. Once it has stopped, this archiver is replaced: the next one checks who may write
        there, and continues after what it finds. This one would wait until this home has written as much."""
        told = f"the archive ends at {reaches:x}, and this home at {ours:x}: another copy of it writes there, too"
        has_stopped, self._theirs = reaches == self._theirs, reaches
        if has_stopped and self._not_yet(told) is None:
            await self.archiver.give_way()
            self._count_pause()
        return told

    async def _whole_copy(self, why: str) -> str:
        """Send a whole copy: a restore of the newest state needs nothing that is older."""
        if (late := self._not_yet(why)) is not None:
            return late
        told = f"{why}; a full copy is sent now, and some moments before it can't be restored"
        await self.archive.note("archive check", told)
        self._failed = await self.back_up() is None
        self._count_pause()
        if self._failed:
            return f"{why}; the full copy that is to make up for it could not be sent"
        self._theirs = 0
        return told

    async def _look_again(self, why: str) -> str:
        """Have the next archiver look at the place, and send what is not there."""
        why = f"{why} {self.archive.target.place}"
        if (late := self._not_yet(why)) is not None:
            return late
        told = f"{why}; what is missing is sent again: see whether this is the right place"
        await self.archive.note("archive check", told)
        await self.archiver.give_way()
        self._failed = False
        self._count_pause()
        return told

    def _not_yet(self, why: str) -> str | None:
        """The message if it is too early to send something again; else ``None``."""
        left_s = self._again_at - trio.current_time()
        if left_s <= 0:
            return None
        before = "and it could not be sent again" if self._failed else "though it was sent again"
        return f"{why}, {before}; that is tried once more in {left_s / 60:.0f} minutes"

    def _count_pause(self) -> None:
        self._pause_ms = FIRST_MS
        self._again_at = trio.current_time() + self._again_ms / SECOND_MS
        self._again_ms = min(max(2 * self._again_ms, AGAIN_MS), AGAIN_LONGEST_MS)

    def _refuse_another(self, theirs: Mapping[str, bytes]) -> None:
        archive = self.archive
        refuse_another(archive.catalogue, theirs, home=self.archiver.home.id, place=archive.target.place)
