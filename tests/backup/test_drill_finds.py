"""What a restore of a point, and so the drill, finds wrong with the files of the database in the archive. Each fault is
put into a file that this restore reads; one in another file does no harm to it."""

from __future__ import annotations

import secrets
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pytest

from svc.backup.points import BlobsAt, DatabaseAt, Point, digest_of
from svc.backup.restoring import RestoreFault, Wanted
from svc.clock import WallClock, rfc3339
from svc.nursery import ThreadPool
from tests.backup.test_restoring import HOME, Archived, archived, flipped, halved, tool_of

pytestmark = [pytest.mark.wall_clock, pytest.mark.thorough]

CHANGES: Final = 4
Files = list[Path]
"""The whole copy, and each change after it."""


def gone(file: Path) -> None:
    file.unlink()


def exchanged(one: Path, other: Path) -> None:
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def written(file: Path, data: bytes) -> None:
    file.write_bytes(data)


HARMS: Final[dict[str, Callable[[Files], None]]] = {
    "a change is missing": lambda files: gone(files[2]),
    "the last change is missing": lambda files: gone(files[-1]),
    "a change is empty": lambda files: written(files[2], b""),
    "a change is cut": lambda files: written(files[2], halved(files[2].read_bytes())),
    "a change has another byte": lambda files: written(files[2], flipped(files[2].read_bytes())),
    "a change has more": lambda files: written(files[2], files[2].read_bytes() + b"more"),
    "two changes are exchanged": lambda files: exchanged(files[1], files[3]),
    "the last two changes are exchanged": lambda files: exchanged(files[-2], files[-1]),
    "a change is the one before it": lambda files: written(files[3], files[2].read_bytes()),
    "the whole copy is exchanged with a change": lambda files: exchanged(files[0], files[2]),
    "the whole copy is cut": lambda files: written(files[0], halved(files[0].read_bytes())),
    "the whole copy has another byte": lambda files: written(files[0], flipped(files[0].read_bytes())),
}


async def test_each_fault_of_a_file_that_is_read_is_found(tmp_path: Path, threads: ThreadPool) -> None:
    kept = await archived(tmp_path, threads)
    files = changed(kept)
    point = Point(
        id="rp_1",
        home=HOME,
        database=DatabaseAt(position=files[-1].stem.partition("-")[2], sequence=0),
        blobs=BlobsAt(0, 0, digest_of(set())),
        schema="",
        key="",
        when=rfc3339(WallClock().now()),
    )

    async def restored() -> int | None:
        try:
            return (await kept.restoring().restore(Wanted(into=kept.into, point=point))).position
        except RestoreFault:
            assert not kept.into.exists()
            return None

    for name, harm in HARMS.items():
        with put_right(files):
            harm(files)
            assert await restored() is None, name
    assert await restored() == point.position


def changed(kept: Archived) -> Files:
    """Write a few times, and have each change archived in a file of its own."""
    tool = tool_of(kept.directory)
    with closing(sqlite3.connect(tool.database)) as connection:
        connection.execute("pragma wal_autocheckpoint = 0")
        connection.execute("create table written (data)")
        for _ in range(CHANGES):
            connection.execute("insert into written values (?)", (secrets.token_bytes(20_000),))
            connection.commit()
            subprocess.run([*tool.replicating(kept.directory / "once.json"), "-once"], check=True, capture_output=True)
    levels = kept.archive / "db" / "ltx"
    (whole,) = (levels / "9").iterdir()
    changes = sorted((levels / "0").iterdir())[-CHANGES:]
    return [whole, *changes]


@contextmanager
def put_right(files: Files) -> Iterator[None]:
    before = {file: file.read_bytes() for file in files}
    try:
        yield
    finally:
        for file, data in before.items():
            file.write_bytes(data)
