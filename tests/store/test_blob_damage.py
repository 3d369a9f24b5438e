"""Damage of blobs: whoever meets it reports it, the blob is written anew, and nobody gets wrong bytes."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from svc.store import BlobCorrupt, BlobMissing, Blobs, Harm
from svc.store.blob_files import CHUNK_BYTES
from svc.store.suspects import MAX_SUSPECTS, Suspects

DATA = os.urandom(CHUNK_BYTES + 99)
NAME = hashlib.sha256(DATA).hexdigest()


def delete(path: Path) -> None:
    path.unlink()


def flip(path: Path) -> None:
    path.write_bytes(bytes([DATA[0] ^ 1]) + DATA[1:])


def truncate(path: Path) -> None:
    path.write_bytes(DATA[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def link(path: Path) -> None:
    elsewhere = path.with_name("elsewhere")
    elsewhere.write_bytes(DATA)
    path.unlink()
    path.symlink_to(elsewhere)


HARMS: dict[Callable[[Path], None], Harm] = {
    delete: "missing",
    flip: "altered",
    truncate: "altered",
    empty: "truncated",
    link: "altered",
}
every_harm = pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)


async def whole(blobs: Blobs) -> None:
    [piece async for piece in blobs.stream(NAME)]


async def a_range(blobs: Blobs) -> None:
    [piece async for piece in blobs.stream(NAME, offset=3, length=4)]


async def read(blobs: Blobs) -> None:
    await blobs.read(NAME, limit=len(DATA))


async def head(blobs: Blobs) -> None:
    await blobs.head(NAME, length=10)


WAYS: list[Callable[[Blobs], Awaitable[None]]] = [whole, a_range, read, head]


async def stored(blobs: Blobs, tmp_path: Path) -> Path:
    await blobs.put(DATA)
    return tmp_path / "blobs" / NAME[:2] / NAME


@every_harm
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_whoever_reads_a_damaged_blob_tells_it_once(
    blobs: Blobs, tmp_path: Path, harm: Callable[[Path], None], way: Callable[[Blobs], Awaitable[None]]
) -> None:
    path = await stored(blobs, tmp_path)
    await way(blobs)
    told: list[None] = []
    blobs.suspects.on_news = lambda: told.append(None)
    harm(path)
    for _ in range(2):
        with pytest.raises(BlobMissing if harm is delete else BlobCorrupt):
            await way(blobs)
    assert told == [None]
    assert dict(blobs.suspects.take_news()) == {NAME: HARMS[harm]}
    assert dict(blobs.suspects.take_news()) == {}


@every_harm
@pytest.mark.parametrize("way", ["put", "put_stream"])
async def test_storing_the_same_bytes_again_heals_what_is_known_to_be_damaged(
    blobs: Blobs, tmp_path: Path, harm: Callable[[Path], None], way: str
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield DATA

    harm(await stored(blobs, tmp_path))
    assert not blobs.is_sound(NAME)
    await (blobs.put(DATA) if way == "put" else blobs.put_stream(pieces(), limit=len(DATA)))
    assert await blobs.read(NAME, limit=len(DATA)) == DATA
    assert dict(blobs.suspects.take_news()) == {NAME: None}
    assert NAME not in blobs.suspects


async def test_what_an_earlier_process_found_is_written_anew_and_told_of_only_then(
    blobs: Blobs, tmp_path: Path
) -> None:
    path = await stored(blobs, tmp_path)
    flip(path)
    blobs.suspects.recall([(NAME, "altered")])
    assert dict(blobs.suspects.take_news()) == {}
    await blobs.put(DATA)
    assert path.read_bytes() == DATA
    assert dict(blobs.suspects.take_news()) == {NAME: None}


async def test_a_name_that_is_none_is_no_damage(blobs: Blobs) -> None:
    with pytest.raises(BlobMissing):
        await blobs.read("../../etc/passwd", limit=10)
    assert dict(blobs.suspects.take_news()) == {}


async def test_what_the_disk_cannot_read_is_damage_and_no_crash(blobs: Blobs, tmp_path: Path) -> None:
    await stored(blobs, tmp_path)
    with pytest.raises(BlobCorrupt), blobs._noting(NAME):
        raise OSError(errno.EIO, "a bad sector")
    assert dict(blobs.suspects.take_news()) == {NAME: "altered"}
    with pytest.raises(PermissionError), blobs._noting(NAME):
        raise PermissionError


def test_how_much_damage_is_known_at_a_time_is_bounded() -> None:
    suspects = Suspects()
    for number in range(MAX_SUSPECTS + 5):
        suspects.found(f"{number:064x}", "missing")
    assert len(suspects.take_news()) == MAX_SUSPECTS


def test_news_that_could_not_be_recorded_give_way_to_newer_ones() -> None:
    suspects = Suspects()
    suspects.found(NAME, "missing")
    news = suspects.take_news()
    suspects.mended(NAME)
    suspects.give_back(news)
    assert dict(suspects.take_news()) == {NAME: None}
