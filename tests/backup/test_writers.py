"""Of two copies of one home only one writes to its archive: the one that was restored last."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from svc.backup.archiver import Archiver
from svc.backup.catalogue import Catalogue
from svc.backup.litestream import ArchiveFault, ArchiverSilent, Entry, Litestream, kept_beside
from svc.backup.points import KEEP_MS, sign
from svc.backup.restoring import Wanted
from svc.backup.target import Target, is_on_a_disk_of_its_own, place_of
from svc.backup.writers import (
    AnotherWriter,
    DamagedLedger,
    archived_ledger,
    look_and_take_over,
    refuse_another,
    take_over,
)
from svc.clock import VirtualClock
from svc.config import Config
from svc.nursery import ThreadPool
from svc.store import Home, Ledger
from tests.backup.archives import archive_of
from tests.backup.test_points import SEED, point
from tests.backup.test_restoring import HOME, Archived, archived, tool_of

pytestmark = pytest.mark.wall_clock

PLACE = place_of("file", "/mnt/disk/svc")
NOW = 60_000
POINT_DATA = sign(point(1_000), SEED).data


def written(catalogue: Catalogue) -> dict[str, bytes]:
    return catalogue.ledger.under("")


def copy_of(directory: Path, theirs: dict[str, bytes]) -> Catalogue:
    """A home that was restored from an archive with that ledger."""
    catalogue = Catalogue(Ledger(directory / "ledger.sqlite3"))
    directory.mkdir()
    catalogue.ledger.put(theirs)
    catalogue.end_writing()
    return catalogue


def test_of_two_homes_with_the_same_files_the_one_that_starts_second_is_refused(tmp_path: Path) -> None:
    home = Catalogue(Ledger(tmp_path / "ledger.sqlite3"))
    take_over(home, {}, home=HOME, place=PLACE)
    theirs = written(home)
    cloned, set_back = (Catalogue(Ledger(tmp_path / f"{name}.sqlite3")) for name in ("cloned", "set back"))
    for one in (cloned, set_back):
        one.ledger.put(theirs)
        refuse_another(one, theirs, home=HOME, place=PLACE)  # nobody has started since then
    take_over(home, theirs, home=HOME, place=PLACE)
    for late in (cloned, set_back):
        with pytest.raises(AnotherWriter, match="its files were copied"):
            take_over(late, written(home), home=HOME, place=PLACE)
    take_over(cloned, {}, home=HOME, place=PLACE)  # the place did not answer
    for one, other in ((cloned, home), (home, cloned)):
        with pytest.raises(AnotherWriter, match="its files were copied"):
            refuse_another(one, written(other), home=HOME, place=PLACE)
    restored = copy_of(tmp_path / "restored", theirs)
    take_over(restored, written(home), home=HOME, place=PLACE)  # the lost one was started after that


def test_an_archive_of_an_earlier_version_is_continued(tmp_path: Path) -> None:
    home = Catalogue(Ledger(tmp_path / "ledger.sqlite3"))
    home.begin(HOME, {"writer": b"0123456789abcdef"})
    theirs = written(home)
    take_over(home, theirs, home=HOME, place=PLACE)
    take_over(home, theirs, home=HOME, place=PLACE)  # what it wrote has not arrived yet
    take_over(home, written(home), home=HOME, place=PLACE)


def test_the_copy_that_was_restored_last_writes_and_the_others_are_refused(tmp_path: Path) -> None:
    old = Catalogue(Ledger(tmp_path / "ledger.sqlite3"))
    take_over(old, {}, home=HOME, place=PLACE)
    take_over(old, written(old), home=HOME, place=PLACE)  # it is started again
    first, second = (copy_of(tmp_path / name, written(old)) for name in ("first", "second"))
    take_over(first, written(old), home=HOME, place=PLACE)
    take_over(first, written(old), home=HOME, place=PLACE)  # what it wrote has not arrived yet
    for late in (old, second):
        with pytest.raises(AnotherWriter, match="another copy of this home"):
            take_over(late, written(first), home=HOME, place=PLACE)
        take_over(late, {}, home=HOME, place=PLACE)  # to another place
    last = copy_of(tmp_path / "last", written(first))
    take_over(last, written(first), home=HOME, place=PLACE)
    with pytest.raises(AnotherWriter):
        refuse_another(first, written(last), home=HOME, place=PLACE)
    refuse_another(last, written(old), home=HOME, place=PLACE)  # it is late with what it wrote before
    with pytest.raises(AnotherWriter, match="of another home"):
        take_over(last, written(last), home="home_1", place=PLACE)


@pytest.mark.thorough
async def test_what_a_restored_home_writes_is_found_in_the_archive_by_the_old_one(
    tmp_path: Path, threads: ThreadPool
) -> None:
    kept = await archived(tmp_path, threads)
    old = Catalogue(Ledger(tool_of(tmp_path).ledger))
    await kept.restoring().restore(Wanted(into=kept.into))
    restored, tool = Catalogue(Ledger(Home.ledger_of(kept.into))), tool_in(kept)
    config = tmp_path / "once.json"
    config.write_bytes(tool.config())
    theirs = await archived_ledger(tool, config, threads)
    take_over(restored, theirs, home=HOME, place=PLACE)
    await tool.base_backup(config)
    with pytest.raises(AnotherWriter):
        refuse_another(old, await archived_ledger(tool, config, threads), home=HOME, place=PLACE)
    for file in (Path(tool.target.place.path) / "ledger").rglob("*.ltx"):
        file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(DamagedLedger, match="name another folder"):
        await archived_ledger(tool, config, threads)
    nowhere = replace(tool, target=Target(place=place_of("file", str(tmp_path / "nowhere"))))
    config.write_bytes(nowhere.config())
    assert await archived_ledger(nowhere, config, threads) == {}


def tool_in(kept: Archived) -> Litestream:
    """For the restored home, with the same archive."""
    return replace(tool_of(kept.directory), database=Home.database_of(kept.into), ledger=Home.ledger_of(kept.into))


async def test_an_archiver_that_was_refused_once_is_refused_again_until_the_archive_is_its_own(
    tmp_path: Path, threads: ThreadPool, wall: VirtualClock
) -> None:
    archive = archive_of(tmp_path, wall)
    archive.catalogue.begin(HOME, {"writer": b"ours"})
    home = cast(Home, SimpleNamespace(id=HOME, path=tmp_path, database=tmp_path / "svc.sqlite3"))
    archiver = Archiver(archive=archive, home=home, config=cast(Config, None), threads=threads, rng=random.Random(1))
    config = tool_of(tmp_path).config()

    @dataclass(frozen=True)
    class Answers:
        """The program: what is archived, or a fault."""

        writer: str = ""
        patience_s: float = 0
        database: Path = home.database

        def config(self, **parts: object) -> bytes:
            return config

        async def restore(self, config: Path, part: str, *, into: Path) -> None:
            if self.writer == "silent":
                raise ArchiverSilent("it did not answer")
            if self.writer in {"", "damaged"}:
                raise ArchiveFault("it is away, or damaged")
            Ledger(into).put({"home": HOME.encode(), "writer": self.writer.encode()})

        @property
        def target(self) -> Target:
            return Target(place=PLACE)

        async def listed(self, config: Path, part: str, *, level: int) -> list[Entry]:
            if not self.writer:
                raise ArchiveFault("it is away")
            return []

        async def has_database(self, config: Path) -> bool:
            return True

    async def take_over(writer: str = "") -> None:
        await archiver._take_over(cast(Litestream, Answers(writer)))

    for known in ("", "silent"):
        await take_over(known)
        assert not archiver.has_looked
    with pytest.raises(ArchiveFault, match="name another folder"):
        await take_over("damaged")
    for _ in range(2):
        with pytest.raises(AnotherWriter):
            await take_over("theirs")
    await take_over("ours")
    await take_over("theirs")  # it was looked at
    await archiver.give_way()
    with pytest.raises(AnotherWriter):
        await take_over("theirs")


class AtPlace:
    """The program, with what is at the place. ``theirs``: ``None`` where it does not answer."""

    def __init__(self, directory: Path, name: str, theirs: dict[str, bytes] | None, *, has_database: bool) -> None:
        self.theirs, self.there = theirs, has_database
        self.target = Target(place=place_of("file", str(directory / name)))
        self.database, self.ledger = directory / "svc.sqlite3", directory / "ledger.sqlite3"

    async def restore(self, config: Path, part: str, *, into: Path) -> None:
        if self.theirs is None:
            raise ArchiverSilent("it did not answer")
        if not self.theirs:
            raise ArchiveFault("no matching backup files available")
        Ledger(into).put(self.theirs)

    async def has_database(self, config: Path) -> bool:
        return self.there

    async def take_over(self, catalogue: Catalogue, threads: ThreadPool) -> list[str]:
        """The databases of which what the archiver keeps is left."""
        for database in (self.database, self.ledger):
            (kept_beside(database) / "ltx").mkdir(parents=True, exist_ok=True)
        tool = cast(Litestream, self)
        answered = await look_and_take_over(tool, Path(), catalogue, home=HOME, now=NOW, threads=threads)
        assert answered == (self.theirs is not None)
        return [one.stem for one in (self.database, self.ledger) if kept_beside(one).exists()]


async def test_what_the_archiver_keeps_is_removed_where_the_place_does_not_continue_it(
    tmp_path: Path, threads: ThreadPool
) -> None:
    catalogue = Catalogue(Ledger(tmp_path / "ledger.sqlite3"))
    catalogue.begin(HOME, {"point/1": POINT_DATA, "signature/1": b"s", "key/1": b"k"})  # of an earlier version
    take_over(catalogue, {}, home=HOME, place=place_of("file", str(tmp_path / "old")))
    old = written(catalogue)

    async def there(name: str, theirs: dict[str, bytes] | None, *, has_database: bool = True) -> list[str]:
        return await AtPlace(tmp_path, name, theirs, has_database=has_database).take_over(catalogue, threads)

    assert await there("old", old) == await there("old", None) == ["svc", "ledger"]
    assert await there("old", {}) == ["svc"]  # the ledger alone is gone
    assert (len(catalogue.points()), catalogue.left_since(NOW)) == (1, None)
    with pytest.raises(ArchiverSilent):
        await there("new", None)  # it may have other positions: nothing is sent before it was looked at
    with pytest.raises(AnotherWriter):
        await there("new", {"home": b"home_1"}, has_database=False)
    assert all(kept_beside(one).exists() for one in (tmp_path / "svc.sqlite3", tmp_path / "ledger.sqlite3"))

    for _ in range(2):  # also where it ended before anything of it was sent
        assert await there("new", {}, has_database=False) == []
        assert (catalogue.points(), set(catalogue.keys())) == ([], {"1"})
        assert catalogue.left_since(NOW) == 1_000, "the replica keeps what the old archive needs"
    assert catalogue.left_since(NOW + KEEP_MS + 1) is None
    assert await there("new", new := written(catalogue)) == ["svc", "ledger"]
    assert await there("new", {}) == ["svc"]
    assert await there("old", old) == []
    assert [one.id for one in catalogue.points()] == ["rp_1"]
    assert await there("old", written(catalogue)) == ["svc", "ledger"]
    assert await there("old", written(catalogue), has_database=False) == []
    assert await there("new", new) == []
    assert await there("old", {}) == []  # other positions, of which nothing says so


class Killed(BaseException):
    """``kill -9``."""


@dataclass
class DyingThreads:
    """Threads of a program that is killed before the work number ``dies_at``."""

    threads: ThreadPool
    dies_at: int

    async def run(self, work: Callable[..., Any], *given: Any) -> Any:
        self.dies_at -= 1
        if not self.dies_at:
            raise Killed
        return await self.threads.run(work, *given)


@pytest.mark.parametrize("theirs", [{}, {"home": HOME.encode(), "line": b"another"}], ids=["an empty place", "another"])
async def test_a_take_over_that_is_killed_at_any_step_is_done_by_the_next_start(
    theirs: dict[str, bytes], tmp_path: Path, threads: ThreadPool
) -> None:
    for step in count(1):
        (directory := tmp_path / str(step)).mkdir()
        catalogue = Catalogue(Ledger(directory / "ledger.sqlite3"))
        catalogue.begin(HOME, {"line": b"of the place that is left"})
        take_over(catalogue, {}, home=HOME, place=place_of("file", str(directory / "old")))
        new = AtPlace(directory, "new", theirs, has_database=bool(theirs))
        for database in (new.database, new.ledger):
            (kept_beside(database) / "ltx").mkdir(parents=True)
        look = partial(look_and_take_over, cast(Litestream, new), Path(), catalogue, home=HOME, now=NOW)
        is_dead = False
        try:
            await look(threads=cast(ThreadPool, DyingThreads(threads, step)))
        except Killed:
            is_dead = True
        assert await look(threads=threads)
        assert not kept_beside(new.database).exists(), "or two states would be mixed"
        assert catalogue.has_line_of(theirs or written(catalogue))
        assert not catalogue.has_line_of({"line": b"of the place that is left"})
        assert catalogue.wrote_to(new.target.place, home=HOME)
        if not is_dead:
            assert step > 5
            return


async def test_nothing_is_sent_to_the_mount_point_of_a_disk_that_is_not_mounted(
    tmp_path: Path, threads: ThreadPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue = Catalogue(Ledger(tmp_path / "ledger.sqlite3"))
    catalogue.begin(HOME, {})

    async def there(name: str, theirs: dict[str, bytes], *, mounted: bool) -> list[str]:
        monkeypatch.setattr("svc.backup.writers.is_on_a_disk_of_its_own", lambda place, database: mounted)
        return await AtPlace(tmp_path, name, theirs, has_database=bool(theirs)).take_over(catalogue, threads)

    await there("disk", {}, mounted=True)
    before = written(catalogue)
    with pytest.raises(ArchiveFault, match="its disk is not mounted"):
        await there("disk", {}, mounted=False)
    assert written(catalogue) == before
    assert kept_beside(tmp_path / "svc.sqlite3").exists()
    await there("disk", before, mounted=True)
    assert await there("disk", {}, mounted=True) == []  # another disk, which is empty
    assert await there("here", {}, mounted=False) == []
    assert await there("here", {}, mounted=False) == []  # somebody emptied it


def test_a_folder_on_the_disk_of_the_system_has_no_disk_of_its_own(tmp_path: Path) -> None:
    place = place_of("file", "/no/such/folder")
    assert not is_on_a_disk_of_its_own(place, tmp_path)
    assert not is_on_a_disk_of_its_own(place_of("file", str(tmp_path / "a" / "b")), tmp_path)
    assert not is_on_a_disk_of_its_own(place_of("s3", "s3://box/there"), tmp_path)
    assert is_on_a_disk_of_its_own(place_of("file", "/proc/self"), tmp_path), "another file system"
