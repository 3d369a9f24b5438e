"""Blobs: whole or not there, durable before they are named, and never handed out damaged."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.errors import Refusal, TooLarge
from svc.nursery import ThreadPool
from svc.store import BlobCorrupt, BlobMissing, BlobRef, Blobs, StoreBroken
from svc.store.blob_files import CHUNK_BYTES, WRITTEN_OUT_BYTES, Upload
from svc.store.blobs import GROUP_FILES
from svc.store.checked import TRUSTED_S
from svc.store.faults import disk_faults
from svc.store.parts import Part
from tests.full_disk import on_a_small_disk
from tests.sizes import examples

T = TypeVar("T")
ABSENT = "0" * 64


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def file_of(blobs_root: Path, data: bytes) -> Path:
    name = sha(data)
    return blobs_root / name[:2] / name


def temporaries(root: Path) -> list[Path]:
    return list((root / ".incoming").iterdir())


async def chunks(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]
        await trio.lowlevel.checkpoint()


async def collected(stream: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in stream])


async def noted(stream: AsyncIterator[bytes], received: list[bytes]) -> AsyncIterator[bytes]:
    async for piece in stream:
        received.append(piece)
        yield piece


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest.mark.parametrize("data", [b"", b"a", b"x" * (CHUNK_BYTES * 2 + 17)])
async def test_a_blob_reads_back_by_its_hash(blobs: Blobs, root: Path, data: bytes) -> None:
    ref = await blobs.put(data)
    assert ref == BlobRef(sha(data), len(data))
    assert file_of(root, data).read_bytes() == data
    assert await blobs.read(ref.sha256, limit=len(data)) == data
    assert await collected(blobs.stream(ref.sha256)) == data
    assert await blobs.size(ref.sha256) == len(data)
    assert temporaries(root) == []


async def test_many_blobs_are_stored_in_one_go_and_equal_ones_once(blobs: Blobs, root: Path) -> None:
    datas = [b"%d" % (number % (GROUP_FILES + 10)) for number in range(2 * GROUP_FILES)]
    refs = await blobs.put_all(datas)
    assert [ref.sha256 for ref in refs] == [sha(data) for data in datas]
    assert list(blobs.each_sha()) == sorted({sha(data) for data in datas})
    assert temporaries(root) == []


async def test_an_existing_blob_is_not_written_again_by_a_group(blobs: Blobs, root: Path) -> None:
    await blobs.put(b"same")
    before = file_of(root, b"same").stat()
    await blobs.put(b"same")
    assert file_of(root, b"same").stat().st_ino == before.st_ino
    assert temporaries(root) == []


async def test_an_upload_is_written_whole_whether_its_content_is_known_or_not(blobs: Blobs, root: Path) -> None:
    await blobs.put(b"same")
    before = file_of(root, b"same").stat()
    ref = await blobs.put_stream(chunks(b"same", 2), limit=10)
    assert file_of(root, b"same").stat().st_ino != before.st_ino
    assert await blobs.read(ref.sha256, limit=10) == b"same"
    assert temporaries(root) == []


LONG_AGO_S = 1_000_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux is asked")
@pytest.mark.parametrize("before", [0, WRITTEN_OUT_BYTES])
def test_a_large_file_is_on_its_way_to_the_disk_before_its_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    begun: list[tuple[int, int]] = []

    def note(descriptor: int, offset: int, length: int, advice: int) -> None:
        assert advice == os.POSIX_FADV_DONTNEED
        assert os.fstat(descriptor).st_size >= offset + length
        begun.append((offset, length))

    with monkeypatch.context() as patched:
        patched.setattr(os, "posix_fadvise", note)
        file: Upload | Part = Upload(str(tmp_path / "new"))
        if before:
            (tmp_path / "part").write_bytes(bytes(before))
            file = Part(str(tmp_path / "part"), size=before, digest=None)
        for _ in range(2 * WRITTEN_OUT_BYTES // CHUNK_BYTES + 1):
            file.write([bytes(CHUNK_BYTES)])
    file.close()
    assert begun == [(before, WRITTEN_OUT_BYTES), (before + WRITTEN_OUT_BYTES, WRITTEN_OUT_BYTES)]


STEPS: Final = ("write", "hash", "write and hash", "cut", "reopen", "reopen with the digest")


@settings(max_examples=examples(50), deadline=None)
@given(steps=st.lists(st.sampled_from(STEPS)))
def test_the_digest_of_a_part_is_that_of_its_bytes_however_they_came(steps: list[str]) -> None:
    """Some are written, but not hashed, or the other way round: a call was cancelled, or the disk was full."""
    with TemporaryDirectory() as folder:
        part, content = Part(f"{folder}/part", size=0, digest=None), b""
        for number, step in enumerate(steps):
            pieces = [b"%d" % number, b"and more"]
            if step == "hash":
                part.hash(pieces)
                assert part.digest().hexdigest() == sha(content)
            elif step.startswith("write"):
                part.write(pieces)
                content += b"".join(pieces)
                if step == "write and hash":
                    part.hash(pieces)
                else:
                    assert part.digest().hexdigest() == sha(content)
            elif step == "cut":
                content = content[: len(content) // 2]
                part.cut(len(content))
            else:
                digest = part.digest() if step == "reopen with the digest" else None
                part.close()
                part = Part(f"{folder}/part", size=len(content), digest=digest)
            assert part.unhashed <= part.size == len(content)
        assert part.digest().hexdigest() == sha(content)
        assert part.unhashed == 0
        part.close()


@pytest.mark.parametrize("again", ["put", "put_stream"])
async def test_storing_content_again_makes_it_young_again(blobs: Blobs, root: Path, again: str) -> None:
    for data in (b"wanted", b"unwanted"):
        await blobs.put(data)
        os.utime(file_of(root, data), (LONG_AGO_S, LONG_AGO_S))
    old = dict(blobs.each_old(before=LONG_AGO_S * 1_000 + 1))
    assert set(old) == {sha(b"wanted"), sha(b"unwanted")}
    await (blobs.put(b"wanted") if again == "put" else blobs.put_stream(chunks(b"wanted", 2), limit=10))
    assert list(blobs.each_old(before=LONG_AGO_S * 1_000 + 1)) == [(sha(b"unwanted"), LONG_AGO_S * 10**9)]
    assert blobs.remove_old(old) == 1
    assert list(blobs.each_sha()) == [sha(b"wanted")]
    assert blobs.remove_old(old) == 0


async def test_what_was_last_stored_at_that_instant_is_not_older_than_it(blobs: Blobs, root: Path) -> None:
    await blobs.put(b"content")
    os.utime(file_of(root, b"content"), (LONG_AGO_S, LONG_AGO_S))
    assert list(blobs.each_old(before=LONG_AGO_S * 1_000)) == []


@pytest.mark.wall_clock
async def test_of_storing_and_removing_at_once_one_comes_first(blobs: Blobs, root: Path, threads: ThreadPool) -> None:
    """Whatever the order: what was stored last is there."""
    for turn in range(100):
        await blobs.put(b"contended")
        os.utime(file_of(root, b"contended"), (LONG_AGO_S, LONG_AGO_S))
        old = {sha(b"contended"): LONG_AGO_S * 10**9}
        async with trio.open_nursery() as nursery:
            if turn % 2:
                nursery.start_soon(threads.run, blobs.remove_old, old)
            nursery.start_soon(blobs.put, b"contended")
            if not turn % 2:
                nursery.start_soon(threads.run, blobs.remove_old, old)
        assert blobs.is_sound(sha(b"contended"))


async def test_a_truncated_blob_is_healed_by_storing_it_again(blobs: Blobs, root: Path) -> None:
    ref = await blobs.put(b"whole content")
    file_of(root, b"whole content").write_bytes(b"whole")
    await blobs.put(b"whole content")
    assert await blobs.read(ref.sha256, limit=100) == b"whole content"


@pytest.mark.parametrize("size", [1, 7, CHUNK_BYTES - 1, CHUNK_BYTES + 1])
async def test_a_stream_is_stored_whatever_its_pieces_are(blobs: Blobs, size: int) -> None:
    data = os.urandom(size * 3 + 1)
    ref = await blobs.put_stream(chunks(data, size), limit=len(data))
    assert ref == BlobRef(sha(data), len(data))
    assert await blobs.read(ref.sha256, limit=len(data)) == data


async def test_an_empty_stream_is_the_empty_blob(blobs: Blobs) -> None:
    assert await blobs.put_stream(chunks(b"", 1), limit=0) == BlobRef(sha(b""), 0)


async def test_a_stream_past_its_limit_leaves_nothing(blobs: Blobs, root: Path) -> None:
    with pytest.raises(TooLarge):
        await blobs.put_stream(chunks(b"x" * 101, 10), limit=100)
    with pytest.raises(TooLarge):
        await blobs.put_stream(chunks(b"x" * (4 * CHUNK_BYTES), CHUNK_BYTES), limit=3 * CHUNK_BYTES)
    assert temporaries(root) == []
    assert list(blobs.each_sha()) == []


@pytest.mark.parametrize("end", ["raise", "cancel"])
async def test_an_upload_that_ends_at_any_chunk_leaves_nothing(blobs: Blobs, root: Path, end: str) -> None:
    pieces = [os.urandom(CHUNK_BYTES) for _ in range(4)]

    async def broken_off(after: int, scope: trio.CancelScope) -> AsyncIterator[bytes]:
        for piece in pieces[:after]:
            yield piece
        if end == "cancel":
            scope.cancel()
            await trio.lowlevel.checkpoint()
        raise ConnectionResetError

    for after in range(len(pieces) + 1):
        with trio.CancelScope() as scope:
            try:
                await blobs.put_stream(broken_off(after, scope), limit=10**9)
            except ConnectionResetError:
                assert end == "raise"
        assert temporaries(root) == []
        assert list(blobs.each_sha()) == []


async def test_what_a_crash_left_half_written_is_swept_at_boot(blobs: Blobs, root: Path, threads: ThreadPool) -> None:
    await blobs.put(b"kept")
    (root / ".incoming" / "half").write_bytes(b"half")
    Blobs.open(root, threads=threads)
    assert temporaries(root) == []
    assert list(blobs.each_sha()) == [sha(b"kept")]


async def test_who_only_reads_leaves_running_uploads_alone(root: Path, blobs: Blobs, threads: ThreadPool) -> None:
    (root / ".incoming" / "half").write_bytes(b"half")
    ref = await blobs.put(b"content")
    assert Blobs.open(root, threads=threads, read_only=True).is_sound(ref.sha256)
    assert len(temporaries(root)) == 1


@pytest.mark.parametrize("name", [ABSENT, "", "x", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 65, "0" * 64 + "\n"])
async def test_a_name_that_is_none_is_missing(blobs: Blobs, name: str) -> None:
    assert await blobs.size(name) is None
    with pytest.raises(BlobMissing):
        await blobs.read(name, limit=10)
    with pytest.raises(BlobMissing):
        await collected(blobs.stream(name))
    assert not blobs.is_sound(name)


async def test_a_link_put_in_a_blobs_place_is_not_followed(blobs: Blobs, root: Path, tmp_path: Path) -> None:
    ref = await blobs.put(b"content")
    (tmp_path / "elsewhere").write_bytes(b"content")
    file_of(root, b"content").unlink()
    file_of(root, b"content").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BlobCorrupt):
        await blobs.read(ref.sha256, limit=10)
    assert not blobs.is_sound(ref.sha256)


@pytest.mark.parametrize("position", [0, CHUNK_BYTES, 2 * CHUNK_BYTES + 9])
async def test_damaged_content_is_never_handed_out_whole(blobs: Blobs, root: Path, position: int) -> None:
    data = b"x" * (2 * CHUNK_BYTES + 10)
    ref = await blobs.put(data)
    file_of(root, data).write_bytes(data[:position] + b"!" + data[position + 1 :])
    received: list[bytes] = []
    with pytest.raises(BlobCorrupt):
        await collected(noted(blobs.stream(ref.sha256), received))
    assert len(b"".join(received)) < len(data)
    with pytest.raises(BlobCorrupt):
        await blobs.read(ref.sha256, limit=len(data))
    with pytest.raises(BlobCorrupt):
        await collected(blobs.stream(ref.sha256, offset=5, length=2))
    assert not blobs.is_sound(ref.sha256)


async def test_a_truncated_blob_is_damaged(blobs: Blobs, root: Path) -> None:
    ref = await blobs.put(b"whole content")
    for size in range(len(b"whole content")):
        file_of(root, b"whole content").write_bytes(b"whole content"[:size])
        with pytest.raises(BlobCorrupt):
            await collected(blobs.stream(ref.sha256))


async def test_ranges_are_slices(blobs: Blobs) -> None:
    data = os.urandom(2 * CHUNK_BYTES + 100)
    ref = await blobs.put(data)
    for offset, length in [(0, 1), (5, 10), (CHUNK_BYTES - 1, 2), (0, 10**9), (len(data), 5), (3, None), (0, 0)]:
        end = None if length is None else offset + length
        assert await collected(blobs.stream(ref.sha256, offset=offset, length=length)) == data[offset:end]


@pytest.fixture
def at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file counts as one that nobody touches as soon as it is written."""
    monkeypatch.setattr("svc.store.checked.SETTLED_MS", -1_000)


async def sent(blobs: Blobs, sha256: str, *, offset: int = 0, length: int | None = None) -> bytes | None:
    """What the system sends; ``None`` where it may not."""
    part = await blobs.part(sha256, offset=offset, length=length)
    if part is None:
        return None
    near, far = socket.socketpair()
    got = b""
    with near, far:
        near.setblocking(False)
        while part.left:
            got += far.recv(await part.send_to(near.fileno()))
    part.close()
    return got


@pytest.mark.usefixtures("at_rest")
async def test_what_was_read_whole_is_sent_by_the_system_for_an_hour(blobs: Blobs) -> None:
    data = os.urandom(2 * CHUNK_BYTES + 100)
    ref = await blobs.put(data)
    assert await sent(blobs, ref.sha256) is None
    await collected(blobs.stream(ref.sha256))
    await trio.sleep(TRUSTED_S - 1)
    assert await sent(blobs, ref.sha256) == data
    assert await sent(blobs, ref.sha256, offset=5, length=CHUNK_BYTES) == data[5 : 5 + CHUNK_BYTES]
    assert await sent(blobs, ref.sha256, offset=7) == data[7:]
    await trio.sleep(1)
    assert await sent(blobs, ref.sha256) is None
    await blobs.head(ref.sha256, length=1)
    assert await sent(blobs, ref.sha256) == data


async def test_a_file_that_changed_just_now_is_not_known_by_its_times(blobs: Blobs) -> None:
    ref = await blobs.put(b"new")
    assert await collected(blobs.stream(ref.sha256)) == b"new"
    assert await sent(blobs, ref.sha256) is None


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize("touch", ["written", "written, times set back", "replaced", "shortened", "gone"])
async def test_what_somebody_touched_is_read_again(blobs: Blobs, root: Path, touch: str) -> None:
    data = os.urandom(1_000)
    ref = await blobs.put(data)
    await blobs.head(ref.sha256, length=1)
    assert await sent(blobs, ref.sha256) == data
    file = file_of(root, data)
    before = file.stat()
    if touch == "gone":
        file.unlink()
        with pytest.raises(BlobMissing):
            await blobs.part(ref.sha256)
        return
    if touch == "replaced":
        file.unlink()
    while not file.exists() or file.stat().st_ctime_ns == before.st_ctime_ns:  # until the file system's clock has moved
        file.write_bytes(bytes([data[0] ^ 1]) + data[1:] if touch != "shortened" else data[:-1])
        if touch != "written":
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert await sent(blobs, ref.sha256) is None
    with pytest.raises(BlobCorrupt):
        await blobs.head(ref.sha256, length=1)
    assert ref.sha256 in blobs.suspects


@pytest.mark.usefixtures("at_rest")
async def test_a_file_that_ends_while_it_is_sent_is_damaged(blobs: Blobs, root: Path) -> None:
    ref = await blobs.put(b"x" * 1_000)
    await blobs.head(ref.sha256, length=1)
    part = await blobs.part(ref.sha256)
    assert part is not None
    os.truncate(file_of(root, b"x" * 1_000), 0)
    near, far = socket.socketpair()
    with near, far, pytest.raises(BlobCorrupt):
        await part.send_to(near.fileno())
    part.close()
    assert ref.sha256 in blobs.suspects


async def test_reading_has_a_limit(blobs: Blobs) -> None:
    ref = await blobs.put(b"x" * 11)
    with pytest.raises(TooLarge):
        await blobs.read(ref.sha256, limit=10)


ON_A_SMALL_DISK = """
import os, sys, trio
from pathlib import Path
from svc.errors import Refusal
from svc.store import Blobs

class Threads:
    async def run(self, fn, *args):
        return await trio.to_thread.run_sync(fn, *args)

async def pieces():
    for _ in range(40):
        yield os.urandom(100_000)

async def main():
    root = Path(sys.argv[1]) / "blobs"
    blobs = Blobs.open(root, threads=Threads())
    for put in (blobs.put(os.urandom(4_000_000)), blobs.put_stream(pieces(), limit=10**9)):
        try:
            await put
        except Refusal as refusal:
            print(refusal.code)
    print(len(list((root / ".incoming").iterdir())), len(list(blobs.each_sha())))
    ref = await blobs.put(b"small")
    print((await blobs.read(ref.sha256, limit=10)).decode())

trio.run(main)
"""


@pytest.mark.thorough
def test_a_full_disk_is_a_refusal_and_leaves_nothing(tmp_path: Path) -> None:
    printed = on_a_small_disk(ON_A_SMALL_DISK, tmp_path, megabytes=1)
    assert printed.split() == ["insufficient_storage", "insufficient_storage", "0", "0", "small"]


def test_error_numbers_of_the_system_have_their_meaning() -> None:
    for number in (errno.ENOSPC, errno.EDQUOT):
        with pytest.raises(Refusal) as refusal, disk_faults():
            raise OSError(number, "full")
        assert refusal.value.code == "insufficient_storage"
    with pytest.raises(StoreBroken), disk_faults():
        raise OSError(errno.EIO, "gone")
    with pytest.raises(PermissionError), disk_faults():
        raise PermissionError


class FailingDisk:
    """Threads before a disk that gives an error once, and would then be fine: as after a failed fsync."""

    def __init__(self) -> None:
        self.failed = False

    async def run(self, fn: Callable[..., T], *args: object) -> T:
        if not self.failed:
            self.failed = True
            raise StoreBroken("the disk failed")
        return await trio.to_thread.run_sync(fn, *args)


async def test_after_a_failed_disk_nothing_is_stored_and_the_database_hears_of_it(tmp_path: Path) -> None:
    heard: list[StoreBroken] = []
    blobs = Blobs.open(tmp_path / "blobs", threads=FailingDisk(), on_broken=heard.append)
    for _ in range(3):
        with pytest.raises(StoreBroken):
            await blobs.put(b"content")
    assert len(heard) == 1
    assert list(blobs.each_sha()) == []
