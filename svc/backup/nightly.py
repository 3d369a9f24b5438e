"""Ten past two each night, local time: a base backup, then the drill.

The date is asked of the wall each time, so that a laptop that slept makes up for it once. On the night in which 02:10
does not exist it is an hour later by the clock; where it comes twice, the first one counts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import partial
from typing import Final

from svc.backup.archive import Archive
from svc.backup.archiver import Archiver
from svc.backup.catalogue import Base, BaseState
from svc.backup.litestream import SNAPSHOT_LEVEL, ArchiveFault
from svc.clock import MINUTE_MS, SECOND_MS, Millis
from svc.errors import Refusal
from svc.nursery import ThreadPool

HOUR: Final = 2
MINUTE: Final = 10
AGAIN_MS: Final = 15 * MINUTE_MS
"""After one that failed."""


def latest_due(now: Millis, zone: tzinfo | None = None) -> Millis:
    """The last ten past two that is not after ``now``. ``zone``: the machine's own, if it is not said."""
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
    """``then``: what follows a base backup that went well."""

    archive: Archive
    archiver: Archiver
    threads: ThreadPool
    then: Callable[[], Awaitable[None]]
    zone: tzinfo | None = None
    _failed_at: Millis | None = None

    async def run(self) -> Millis:
        """Make one if it is due. Returns when to look again."""
        now = self.archive.clock.now()
        state = await self.threads.run(self.archive.catalogue.base)
        if state is not None and latest_due(now, self.zone) <= state.at <= now:  # else the clock was wrong
            return next_due(now, self.zone)
        if not self.archive.runs:
            return now + 5 * SECOND_MS
        if self._failed_at is not None and 0 <= now - self._failed_at < AGAIN_MS:
            return self._failed_at + AGAIN_MS
        if await self.make() is not None:
            await self.then()
        return self.archive.clock.now() + MINUTE_MS

    async def make(self) -> Base | None:
        """One now; ``None`` where it failed, which is noted."""
        archive, began = self.archive, self.archive.clock.now()
        try:
            async with self.archiver.held() as tool:
                config = await self.threads.run(partial(self.archiver.written_config, tool, parts=("db",)))
                await tool.base_backup(config)
            held = await tool.listed(config, "db", level=SNAPSHOT_LEVEL)
        except ArchiveFault as fault:
            self._failed_at = began
            await archive.note("base backup", f"the base backup failed: {fault}")
            return None
        bases = tuple(Base(id=one.max_txid, at=one.at, bytes=one.size) for one in held)
        await self.threads.run(archive.catalogue.note, BaseState(at=began, held=bases))
        await archive.note("base backup", None)
        self._failed_at = None
        archive.log.info("backup.base_made", count=len(bases))
        return bases[-1] if bases else None

    async def make_or_refuse(self) -> Base:
        """For who asks for one. Raises :class:`Refusal`."""
        made = await self.make()
        if made is None:
            raise Refusal(f"{self.archive.problem_of('base backup')}.".capitalize(), code="unavailable")
        return made
