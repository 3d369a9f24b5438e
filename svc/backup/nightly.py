"""The nightly job at ten past two, local time: a base backup, then the drill.

The wall clock is read each time, so that a laptop that slept does it once afterwards. On the night in which 02:10 does
not exist, it runs an hour later by the clock; where 02:10 comes twice, the first one counts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from typing import Final

import trio

from svc.backup.archive import Archive
from svc.backup.archiver import Archiver, CopyTooSlow
from svc.backup.catalogue import Base, BaseState
from svc.backup.folders import forget_halves
from svc.backup.litestream import SNAPSHOT_LEVEL, ArchiveFault, Entry, as_sentence
from svc.clock import MINUTE_MS, SECOND_MS, Millis
from svc.errors import Refusal
from svc.nursery import ThreadPool

HOUR: Final = 2
MINUTE: Final = 10
AGAIN_MS: Final = 15 * MINUTE_MS
"""Pause after a failure."""


def latest_due(now: Millis, zone: tzinfo | None = None) -> Millis:
    """The last ten past two that is not after ``now``. ``zone``: default is the machine's."""
    today = datetime.fromtimestamp(now / SECOND_MS, zone).date()
    return next(at for back in (0, 1, 2) if (at := _at_hour(today - timedelta(days=back), zone)) <= now)


def next_due(now: Millis, zone: tzinfo | None = None) -> Millis:
    """The first one after ``now``."""
    today = datetime.fromtimestamp(now / SECOND_MS, zone).date()
    return next(at for days in (0, 1, 2) if (at := _at_hour(today + timedelta(days=days), zone)) > now)


def _at_hour(day: date, zone: tzinfo | None) -> Millis:
    wall = datetime(day.year, day.month, day.day, HOUR, MINUTE, tzinfo=zone)  # fold 0: the first of two
    return round(wall.astimezone(UTC).timestamp() * SECOND_MS)


@dataclass(kw_only=True)
class Nightly:
    """``then``: runs after a successful base backup. ``drill``: runs the drill of the night that began at the given
    time, and returns when it wants to try once more. It does nothing if this drill was done; so a restart after the
    base backup does not skip it. ``begun_at``: when the base backup in progress began."""

    archive: Archive
    archiver: Archiver
    threads: ThreadPool
    then: Callable[[], Awaitable[object]]
    drill: Callable[[Millis], Awaitable[Millis | None]]
    zone: tzinfo | None = None
    begun_at: Millis | None = None
    _failed_at: Millis | None = None
    _again_at: Millis = 0
    _turn: trio.Lock = field(default_factory=trio.Lock)

    async def run(self) -> Millis:
        """Do what is due. Returns when to check again."""
        now = self.archive.clock.now()
        if not self.archive.runs:
            return now + 5 * SECOND_MS
        due = latest_due(now, self.zone)
        state = await self.threads.run(self.archive.catalogue.base)
        if state is not None and due <= state.at <= now:  # else the clock was wrong
            again_at = await self.drill(due)
            if self._failed_at is None:
                return min(filter(None, (next_due(now, self.zone), again_at)))
        if self._failed_at is not None and self._failed_at <= now < self._again_at:
            return self._again_at
        if await self.make(is_first=state is None) is not None:
            await self.then()
            await self.drill(due)
        return self.archive.clock.now() + MINUTE_MS

    async def make(self, *, is_first: bool = False) -> Base | None:
        """Make one now, or after the one in progress; ``None`` where it failed, which is noted."""
        async with self._turn:
            began = self.begun_at = self.archive.clock.now()
            try:
                return await self._make(began, is_first=is_first)
            finally:
                self.begun_at = None

    async def _make(self, began: Millis, *, is_first: bool) -> Base | None:
        archive = self.archive
        try:
            held = await self._sent(is_first=is_first)
        except ArchiveFault as fault:
            self._failed_at = now = archive.clock.now()
            self._again_at = next_due(now, self.zone) if isinstance(fault, CopyTooSlow) else now + AGAIN_MS
            await archive.note("base backup", f"the base backup failed: {fault}")
            return None
        if archive.target.place.kind == "file":
            await self.threads.run(forget_halves, Path(archive.target.place.path))
        bases = tuple(Base(id=one.max_txid, at=one.at, bytes=one.size) for one in held)
        await self.threads.run(archive.catalogue.note, BaseState(at=began, held=bases))
        await archive.note("base backup", None)
        self._failed_at = None
        archive.log.info("backup.base_made", count=len(bases))
        return bases[-1] if bases else None

    async def _sent(self, *, is_first: bool) -> list[Entry]:
        """Send one, and return all that exist then. Raises :class:`ArchiveFault`. ``is_first``: the archiver sends the
        first one without a request, and that is enough.

        The archiver sends one if it would be newer than the newest, by the time in the archive. If that time is in the
        future (a clock was wrong), it would never do so; then it releases the database, and another process sends the
        copy.
        """
        archive, archiver, tool = self.archive, self.archiver, self.archive.tool
        if tool is None:
            raise ArchiveFault("the archiver does not run")
        config = await self.threads.run(partial(archiver.written_config, tool, parts=("db",)))
        listed = partial(tool.listed, config, "db", level=SNAPSHOT_LEVEL)
        held = await listed()
        after = held[-1].at + SECOND_MS if held else None  # times there are in whole seconds
        if held and held[-1].last >= (await archiver.position()).txid:
            return held  # nothing was written since then
        if held and is_first:
            return held
        if after is not None and after > archive.clock.now():
            async with archiver.held():
                await tool.base_backup(config)
        else:
            await archiver.whole_copy(after=after)
        return await listed()

    async def make_or_refuse(self) -> Base:
        """Make one for a caller that requested it. Raises :class:`Refusal`."""
        made = await self.make()
        if made is None:
            raise Refusal(as_sentence(str(self.archive.problem_of("base backup"))), code="unavailable")
        return made
