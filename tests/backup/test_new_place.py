"""A home that goes to another place begins with a whole copy there, however long it was archived before; and the place
that it left can be restored, and gone back to."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import pytest

from svc.backup.litestream import kept_beside
from svc.backup.restoring import Wanted
from svc.backup.service import Backup
from svc.backup.target import Target, place_of
from svc.clock import VirtualClock, WallClock
from svc.store import Home
from tests.backup.test_away import all_is_there
from tests.identity.people import sign_in
from tests.recorded_log import RecordedLog
from tests.support.service import MIA, open_service

pytestmark = [pytest.mark.wall_clock, pytest.mark.thorough]

LARGE: Final = "It has leaves of its own in the database. " * 2_000
BODIES: Final = "select path, body from pages p join page_revisions r on r.page_id = p.id and r.revision = p.revision"
MORE: Final = 8
"""Changes: more than there were at the first place."""


@dataclass
class Moving:
    """A home that is archived to one folder after the other."""

    directory: Path
    clock: VirtualClock
    log: RecordedLog
    written: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.directory / "home"

    async def archive(self, place: Path, *paths: str, last: Path | None = None) -> None:
        """Write these pages, and see that a restore from there has all that was ever written. ``last``: the place
        before this one, which has all that was written until then."""
        before = dict(self.written)
        self.clock.offset_ms += WallClock().now() - self.clock.now()  # the archiver goes by the machine's
        async with open_service(
            self.directory, clock=self.clock, log=self.log, PROVIDERS="fake", ARCHIVE_FILE_PREFIX=str(place)
        ) as service:
            backup = service.workspace.service(Backup)
            archiver = backup.on().archiver
            await all_is_there(archiver)
            mia = await sign_in(service, MIA)
            for path in paths:
                self.written[path] = f"{path} {LARGE}"
                await mia.mutate("pages.save", path=path, body=self.written[path])
                await archiver.position()  # it reads each change by itself
            await all_is_there(archiver)
            await archiver.send_ledger()
            assert await self.restored(backup, place) == self.written
            if last is not None:
                assert await self.restored(backup, last) == before

    async def restored(self, backup: Backup, place: Path) -> dict[str, str]:
        into, restoring = self.directory / "restored", backup.restoring()
        restoring.tool = replace(restoring.tool, target=Target(place=place_of("file", str(place))))
        await restoring.restore(Wanted(into=into, without_blobs=True, keeps_secrets=True))
        connection = sqlite3.connect(Home.database_of(into))
        rows = connection.execute(BODIES).fetchall()
        connection.close()
        shutil.rmtree(into)
        return {path: body for path, body in rows if path in self.written}

    def prune(self) -> None:
        """As the archiver does with what it sent 14 days ago."""
        for database in (Home.database_of(self.home), Home.ledger_of(self.home)):
            *old, _ = sorted((kept_beside(database) / "ltx" / "0").iterdir())
            for file in old:
                file.unlink()
            assert old


@pytest.fixture
def moving(tmp_path: Path, wall: VirtualClock, log: RecordedLog) -> Moving:
    return Moving(tmp_path, wall, log)


async def test_an_old_home_begins_anew_in_an_empty_place_and_may_go_back(moving: Moving, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    await moving.archive(first, "one")
    await moving.archive(first, "two")
    moving.prune()
    await moving.archive(second, *(f"more/{count}" for count in range(MORE)), last=first)
    await moving.archive(first, "back", last=second)
    await moving.archive(first, "again")
    moving.prune()
    shutil.rmtree(first)  # an empty disk in the same place
    await moving.archive(first, "new")


async def test_an_archive_of_which_the_ledger_alone_is_gone_gets_it_again(moving: Moving, tmp_path: Path) -> None:
    place = tmp_path / "first"
    await moving.archive(place, "one")
    await moving.archive(place, "two")
    moving.prune()
    shutil.rmtree(place / "ledger")
    there = {one.name for one in (place / "db" / "ltx" / "0").iterdir()}
    await moving.archive(place, "three")
    assert there < {one.name for one in (place / "db" / "ltx" / "0").iterdir()}
