"""Where blobs lie: one level of directories; homes of earlier versions have two, and are moved as they are used."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from svc.nursery import ThreadPool
from svc.store import Blobs
from tests.sizes import HANGS_S

CONTENTS = [b"content %d" % number for number in range(20)]


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def new_place(root: Path, data: bytes) -> Path:
    return root / sha(data)[:2] / sha(data)


def old_place(root: Path, data: bytes) -> Path:
    return root / sha(data)[:2] / sha(data)[2:4] / sha(data)


def lay_old(root: Path, data: bytes, content: bytes | None = None) -> None:
    old_place(root, data).parent.mkdir(parents=True, exist_ok=True)
    old_place(root, data).write_bytes(data if content is None else content)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest.fixture
def old_home(root: Path, threads: ThreadPool) -> Blobs:
    for data in CONTENTS:
        lay_old(root, data)
    return Blobs.open(root, threads=threads)


async def test_a_new_blob_lies_one_directory_deep(blobs: Blobs, root: Path) -> None:
    await blobs.put(b"content")
    assert new_place(root, b"content").read_bytes() == b"content"


async def test_a_home_of_an_earlier_version_is_read_as_it_is(old_home: Blobs, root: Path) -> None:
    assert list(old_home.each_sha()) == sorted(map(sha, CONTENTS))
    for data in CONTENTS:
        assert await old_home.read(sha(data), limit=100) == data
        assert b"".join([piece async for piece in old_home.stream(sha(data))]) == data
        assert await old_home.size(sha(data)) == len(data)
        assert old_home.is_sound(sha(data))
        assert old_place(root, data).exists()
    assert len(old_home.suspects.take_news()) == 0


async def test_who_only_reads_moves_nothing(root: Path, old_home: Blobs, threads: ThreadPool) -> None:
    beside = Blobs.open(root, threads=threads, read_only=True)
    assert await beside.read(sha(CONTENTS[0]), limit=100) == CONTENTS[0]
    assert old_place(root, CONTENTS[0]).exists()


async def test_what_is_moved_lies_where_it_belongs_and_the_empty_directories_go(old_home: Blobs, root: Path) -> None:
    assert old_home.settle([*map(sha, CONTENTS), sha(b"never stored"), "no name"]) == len(CONTENTS)
    for data in CONTENTS:
        assert new_place(root, data).read_bytes() == data
        assert not old_place(root, data).parent.exists()
    assert list(old_home.each_sha()) == sorted(map(sha, CONTENTS))
    assert old_home.settle(map(sha, CONTENTS)) == 0


async def test_a_neighbour_in_the_same_old_directory_stays_until_its_own_turn(old_home: Blobs, root: Path) -> None:
    neighbour = old_place(root, CONTENTS[0]).parent / sha(b"another")
    neighbour.write_bytes(b"another")
    old_home.settle([sha(CONTENTS[0])])
    assert neighbour.read_bytes() == b"another"


async def test_storing_known_content_again_moves_it_and_makes_it_young(old_home: Blobs, root: Path) -> None:
    data = CONTENTS[3]
    os.utime(old_place(root, data), (1_000_000_000, 1_000_000_000))
    inode = old_place(root, data).stat().st_ino
    await old_home.put(data)
    assert new_place(root, data).stat().st_ino == inode
    assert new_place(root, data).stat().st_mtime > 1_000_000_001
    assert not old_place(root, data).exists()


async def test_what_is_stored_at_the_new_place_leaves_nothing_at_the_old_one(old_home: Blobs, root: Path) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield CONTENTS[4]

    await old_home.put_stream(pieces(), limit=100)
    assert new_place(root, CONTENTS[4]).exists()
    assert not old_place(root, CONTENTS[4]).exists()


async def test_of_two_places_the_new_one_counts(root: Path, old_home: Blobs) -> None:
    data = CONTENTS[5]
    new_place(root, data).parent.mkdir(exist_ok=True)
    new_place(root, data).write_bytes(data)
    old_place(root, data).write_bytes(b"an older, damaged copy")
    assert old_home.is_sound(sha(data))
    assert list(old_home.each_sha()).count(sha(data)) == 1
    assert old_home.settle([sha(data)]) == 0
    assert new_place(root, data).read_bytes() == data
    assert not old_place(root, data).exists()


async def test_a_truncated_blob_at_its_old_place_is_healed_by_storing_it_again(old_home: Blobs, root: Path) -> None:
    data = CONTENTS[6]
    old_place(root, data).write_bytes(data[:3])
    await old_home.put(data)
    assert await old_home.read(sha(data), limit=100) == data


async def test_what_nothing_names_is_removed_at_either_place(old_home: Blobs, root: Path) -> None:
    old_home.settle([sha(CONTENTS[0])])
    found = {name: (new_place if at else old_place) for name, at in ((CONTENTS[0], True), (CONTENTS[1], False))}
    stored = {sha(data): place(root, data).stat().st_mtime_ns for data, place in found.items()}
    assert old_home.remove_old(stored) == 2
    assert set(old_home.each_sha()) == set(map(sha, CONTENTS[2:]))


@pytest.mark.thorough
@pytest.mark.parametrize("what", ["move", "mend"])
@pytest.mark.wall_clock
def test_killed_at_any_step_of_moving_or_mending_a_blob_is_old_or_new(tmp_path: Path, what: str) -> None:
    command = [sys.executable, "-m", "tests.store.dying_blobs", str(tmp_path / "blobs"), what]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS_S)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 8, "it was hardly killed: the test tests nothing"
