"""What a power loss can take of the blobs: nothing that a caller was told is stored."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import AsyncIterator, Set
from pathlib import Path

import pytest

from svc.nursery import ThreadPool
from svc.store import Blobs, StoreBroken, syncing
from svc.store import blobs as blobs_module
from svc.store.syncing import MANY, file_system_of
from tests.store.power_loss import PowerLoss

FEW, MORE = 3, 3 * MANY


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def new_place(root: Path, data: bytes) -> Path:
    return root / sha(data)[:2] / sha(data)


def old_place(root: Path, data: bytes) -> Path:
    return root / sha(data)[:2] / sha(data)[2:4] / sha(data)


def contents(count: int) -> list[bytes]:
    return [b"content %d" % number for number in range(count)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest.fixture
def power(root: Path, monkeypatch: pytest.MonkeyPatch) -> PowerLoss:
    return PowerLoss(root, monkeypatch)


@pytest.fixture(params=["each is synced", "at once where there are many"])
def blobs(request: pytest.FixtureRequest, root: Path, threads: ThreadPool, monkeypatch: pytest.MonkeyPatch) -> Blobs:
    telling = "many" in request.param
    monkeypatch.setattr(blobs_module, "tells_of_failures", lambda path: telling)
    return Blobs.open(root, threads=threads)


@pytest.mark.parametrize("count", [FEW, MORE])
async def test_what_was_stored_survives(blobs: Blobs, root: Path, power: PowerLoss, count: int) -> None:
    datas = contents(count)
    await blobs.put_all(datas[: count // 2])
    assert all(power.survives(new_place(root, data)) for data in datas[: count // 2])
    await blobs.put_all([*datas, *datas])
    assert all(power.survives(new_place(root, data)) for data in datas)
    assert list((root / ".incoming").iterdir()) == []


async def test_what_a_killed_process_left_without_a_sync_survives_once_it_is_stored_again(
    blobs: Blobs, root: Path, power: PowerLoss
) -> None:
    datas = contents(MORE)
    for data in datas:
        new_place(root, data).parent.mkdir(parents=True, exist_ok=True)
        new_place(root, data).write_bytes(data)
        os.fsync(descriptor := os.open(new_place(root, data), os.O_RDONLY))
        os.close(descriptor)
    assert not any(power.survives(new_place(root, data)) for data in datas)
    await blobs.put_all(datas)
    assert all(power.survives(new_place(root, data)) for data in datas)


async def test_what_was_damaged_and_is_stored_again_survives(blobs: Blobs, root: Path, power: PowerLoss) -> None:
    datas = contents(MORE)
    await blobs.put_all(datas)
    for data in datas:
        new_place(root, data).write_bytes(b"broken")
    await blobs.put_all(datas)
    assert all(power.survives(new_place(root, data)) for data in datas)


async def test_an_upload_survives(blobs: Blobs, root: Path, power: PowerLoss) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"one piece, "
        yield b"and another"

    await blobs.put_stream(pieces(), limit=100)
    assert power.survives(new_place(root, b"one piece, and another"))


@pytest.mark.share(2)
@pytest.mark.thorough
@pytest.mark.parametrize("again", ["settle", "put_all"])
async def test_what_is_moved_survives_at_one_of_its_places_at_each_step(
    blobs: Blobs, root: Path, power: PowerLoss, monkeypatch: pytest.MonkeyPatch, again: str
) -> None:
    datas = contents(MORE)
    for data in datas:
        old_place(root, data).parent.mkdir(parents=True, exist_ok=True)
        old_place(root, data).write_bytes(data)
    syncing.sync_file_system(-1)
    steps: list[str] = []

    def survived() -> None:
        assert all(power.survives_moving(old_place(root, data), new_place(root, data)) for data in datas)

    for name in ("rename", "unlink", "rmdir", "mkdir"):
        watch(monkeypatch, name, steps)
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        survived()
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    if again == "settle":
        blobs.settle(map(sha, datas))
    else:
        await blobs.put_all(datas)
    survived()
    assert {"rename", "unlink"} <= set(steps)
    assert all(power.survives(new_place(root, data)) for data in datas)


def watch(monkeypatch: pytest.MonkeyPatch, name: str, steps: list[str]) -> None:
    done = getattr(os, name)

    def noting(path: str, *args: object, **options: object) -> object:
        steps.append(name)
        return done(path, *args, **options)

    monkeypatch.setattr(os, name, noting)


@pytest.mark.parametrize("left_out", ["files", "directories"])
async def test_a_sync_that_is_left_out_is_noticed_here(
    blobs: Blobs, root: Path, power: PowerLoss, monkeypatch: pytest.MonkeyPatch, left_out: str
) -> None:
    def nothing(self: object, what: Set[object]) -> None:
        return None

    monkeypatch.setattr(syncing.Syncs, left_out, nothing)
    datas = contents(FEW)
    await blobs.put_all(datas)
    assert not any(power.survives(new_place(root, data)) for data in datas)


async def test_many_are_stored_with_a_handful_of_syncs_where_one_is_as_good(
    root: Path, threads: ThreadPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncs: list[int] = []
    monkeypatch.setattr(blobs_module, "tells_of_failures", lambda path: True)
    monkeypatch.setattr(syncing, "sync_file_system", syncs.append)
    blobs = Blobs.open(root, threads=threads)
    await blobs.put_all(contents(MORE))
    assert len(syncs) == 2
    await blobs.put_all(contents(FEW))
    assert len(syncs) == 2


async def test_where_the_one_sync_fails_nothing_counts_as_stored(
    root: Path, threads: ThreadPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(descriptor: int) -> None:
        raise OSError(errno.EIO, "gone")

    monkeypatch.setattr(blobs_module, "tells_of_failures", lambda path: True)
    monkeypatch.setattr(syncing, "sync_file_system", failing)
    heard: list[StoreBroken] = []
    blobs = Blobs.open(root, threads=threads, on_broken=heard.append)
    with pytest.raises(StoreBroken):
        await blobs.put_all(contents(MORE))
    assert len(heard) == 1
    assert list(blobs.each_sha()) == []
    assert list((root / ".incoming").iterdir()) == []


MOUNTS = """\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:20 / /proc rw - proc proc rw
30 21 0:40 / /home rw - overlay overlay rw,lowerdir=/a - b
31 30 8:2 / /home/with\\040space rw shared:3 master:1 - xfs /dev/sdb rw
32 21 0:50 / /over rw - ext4 /dev/sdc rw
33 21 0:51 / /over rw - tmpfs tmpfs rw
a line of another form
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/svc", "ext4"),
        ("/homes/svc", "ext4"),
        ("/home/svc", "overlay"),
        ("/home/with space/svc", "xfs"),
        ("/over/svc", "tmpfs"),
        ("/over", "tmpfs"),
    ],
)
def test_a_file_system_is_told_by_what_is_mounted_nearest(path: str, kind: str) -> None:
    assert file_system_of(Path(path), MOUNTS) == kind


def test_of_no_mounts_nothing_is_known() -> None:
    assert file_system_of(Path("/home"), "") is None


def test_a_sync_of_the_file_system_works_and_tells_of_a_fault(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    syncing.sync_file_system(descriptor)
    os.close(descriptor)
    with pytest.raises(OSError, match="Bad file descriptor"):
        syncing.sync_file_system(-1)
