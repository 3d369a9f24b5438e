"""Blobs: content under its own SHA-256, in files ``ab/cd/<sha256>``.

Owns the blob tree. The order of durability is: write a temporary file, fsync it, rename it, fsync the directory, and
only then return, so that no row ever names a blob that a power loss took away. Content never changes once it has its
name, and damaged content is never handed out as if it were whole.

A blob whose last row is gone is removed by somebody who knows the rows (``remove_old``). The file's time of change says
when the content was last stored: storing it again renews it, and a lock keeps the two from crossing.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Final, TypeVar

from svc.clock import Millis
from svc.errors import NotFound, Refusal, TooLarge
from svc.store.faults import StoreBroken, disk_faults
from svc.store.gate import Runs
from svc.store.home import sync_directory

T = TypeVar("T")

CHUNK_BYTES: Final = 256 * 1024  # read or written in one thread hop
GROUP_FILES: Final = 64  # temporary files open at a time while many blobs are written
SYNC_THREADS: Final = 8  # fsyncs of one group that wait for the disk together
CHECKED_AHEAD_BYTES: Final = 16 * 1024 * 1024  # content up to here is checked before the first byte is handed out
MAX_REMEMBERED: Final = 4_096  # files whose hash was checked, for ranges

_NAME: Final = re.compile(r"[0-9a-f]{64}")
_NOT_A_FILE: Final = frozenset({errno.ELOOP, errno.EISDIR})
_INCOMING: Final = ".incoming"
_LOCK: Final = ".lock"
_NANOSECONDS_A_MS: Final = 1_000_000
_DIRECTORY_NAME: Final = re.compile(r"[0-9a-f]{2}")


@dataclass(frozen=True, slots=True)
class BlobRef:
    """The address of some content, and its size in bytes."""

    sha256: str
    size: int


class BlobMissing(NotFound):
    """There is no such blob."""


class BlobCorrupt(NotFound):
    """What is stored under this name is not what the name says; it is not handed out."""


class Blobs:
    """The blob tree of one home."""

    def __init__(self, root: Path, *, threads: Runs, on_broken: Callable[[StoreBroken], None] | None = None) -> None:
        """``on_broken`` hears that the disk failed, so that the database stops acknowledging too (``Store.fail``)."""
        self._root = root
        self._incoming = root / _INCOMING
        self._threads = threads
        self._on_broken = on_broken
        self._broken = False
        self._full = False
        self._durable_directories: set[Path] = set()  # at most 256 + 65,536
        self._checked: OrderedDict[str, tuple[int, int, int]] = OrderedDict()

    @classmethod
    def open(
        cls,
        root: Path,
        *,
        threads: Runs,
        on_broken: Callable[[StoreBroken], None] | None = None,
        read_only: bool = False,
    ) -> Blobs:
        """Create what is missing and sweep what a crash left half-written; blocks.

        The caller holds the home's lock. Who does not opens ``read_only``: the half-written files belong to a service
        that is running.
        """
        blobs = cls(root, threads=threads, on_broken=on_broken)
        if read_only:
            return blobs
        blobs._incoming.mkdir(mode=0o700, parents=True, exist_ok=True)
        for leftover in blobs._incoming.iterdir():
            leftover.unlink()
        return blobs

    async def put(self, data: bytes) -> BlobRef:
        """Store ``data`` durably. Raises :class:`Refusal` ``insufficient_storage``."""
        return (await self.put_all([data]))[0]

    async def put_all(self, datas: Sequence[bytes]) -> list[BlobRef]:
        """Store several blobs in one hop; all are durable on return."""
        return await self._hop(self.put_all_now, datas)

    def put_all_now(self, datas: Sequence[bytes]) -> list[BlobRef]:
        """:meth:`put_all` for those who are in a thread already; blocks."""
        refs = [BlobRef(hashlib.sha256(data).hexdigest(), len(data)) for data in datas]
        wanted = dict(zip(refs, datas, strict=True))
        with self._noting_room(), disk_faults():
            missing = self._renew(wanted)
            for start in range(0, len(missing), GROUP_FILES):
                self._write_group({ref: wanted[ref] for ref in missing[start : start + GROUP_FILES]})
            # Also those that were there: a process killed between rename and fsync may have left them.
            self._sync_parents(wanted)
        return refs

    @property
    def full(self) -> bool:
        """Whether the disk had no room for what was stored last. The next that finds some says otherwise."""
        return self._full

    @contextmanager
    def _noting_room(self) -> Iterator[None]:
        try:
            yield
        except Refusal:
            self._full = True
            raise
        self._full = False

    async def put_stream(self, chunks: AsyncIterator[bytes], *, limit: int) -> BlobRef:
        """Store what ``chunks`` yields, in constant memory. Nothing is kept when it ends early, fails or is cancelled.

        Raises :class:`TooLarge` with the byte that passes ``limit``, and whatever ``chunks`` raises.
        """
        upload = _Upload(self._incoming / secrets.token_hex(16))
        try:
            pending: list[bytes] = []
            pending_bytes = 0
            async for chunk in chunks:
                pending.append(chunk)
                pending_bytes += len(chunk)
                if upload.size + pending_bytes > limit:
                    raise TooLarge(f"The content may have at most {limit} bytes.")
                if pending_bytes >= CHUNK_BYTES:
                    await self._hop(upload.write, b"".join(pending))
                    pending, pending_bytes = [], 0
            await self._hop(upload.write, b"".join(pending))
            return await self._hop(self._finish, upload)
        finally:
            upload.discard()

    async def read(self, sha256: str, *, limit: int) -> bytes:
        """The whole content, checked. Raises :class:`BlobMissing`, :class:`BlobCorrupt`, :class:`TooLarge`."""
        return await self._hop(self.read_now, sha256, limit)

    def read_now(self, sha256: str, limit: int) -> bytes:
        """:meth:`read` for those who are in a thread already; blocks."""
        with self._opened(sha256) as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise TooLarge(f"The content has more than {limit} bytes.")
        if hashlib.sha256(data).hexdigest() != sha256:
            raise BlobCorrupt("This content is damaged.")
        return data

    async def stream(self, sha256: str, *, offset: int = 0, length: int | None = None) -> AsyncIterator[bytes]:
        """The content from ``offset``, ``length`` bytes at most.

        Checked on the way: a damaged file raises :class:`BlobCorrupt` before its last piece; a range is only begun once
        the whole file is known to be good.
        """
        whole = offset == 0 and length is None
        if not whole:
            await self._hop(self._check, sha256)
        file = await self._hop(self._opened, sha256)
        try:
            reader = _Reader(file, offset, length)
            held = await self._hop(reader.read)
            while following := await self._hop(reader.read):
                yield held
                held = following
            if whole and reader.digest.hexdigest() != sha256:
                raise BlobCorrupt("This content is damaged.")
            if held:
                yield held
        finally:
            file.close()

    async def head(self, sha256: str, *, length: int) -> bytes:
        """The first bytes, to tell by what the content is before it is streamed.

        Whoever gets them knows the content to be good, unless it has more than ``CHECKED_AHEAD_BYTES``: to read so much
        twice would keep its reader waiting, so it is only checked on its way.
        """
        return await self._hop(self._head, sha256, length)

    async def size(self, sha256: str) -> int | None:
        """Bytes, or ``None`` when there is no such blob."""
        return await self._hop(self.size_now, sha256)

    def size_now(self, sha256: str) -> int | None:
        try:
            return self._path(sha256).stat().st_size
        except (FileNotFoundError, BlobMissing):
            return None

    def is_sound(self, sha256: str) -> bool:
        """Whether the blob exists and hashes to its name; blocks."""
        try:
            with self._opened(sha256) as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == sha256
        except (BlobMissing, BlobCorrupt):
            return False

    def each_sha(self) -> Iterator[str]:
        """Every blob there is, in order; blocks."""
        for first in self._subdirectories(self._root):
            for second in self._subdirectories(first):
                yield from sorted(entry.name for entry in second.iterdir() if _NAME.fullmatch(entry.name))

    def each_old(self, before: Millis) -> Iterator[tuple[str, int]]:
        """Every blob that was last stored before that instant, with the time of it in nanoseconds; blocks."""
        for sha256 in self.each_sha():
            with suppress(FileNotFoundError):
                stored_ns = self._path(sha256).lstat().st_mtime_ns
                if stored_ns < before * _NANOSECONDS_A_MS:
                    yield sha256, stored_ns

    def remove_old(self, stored: Mapping[str, int]) -> int:
        """Remove blobs that no row names, unless they were stored again since ``each_old`` told; blocks.

        The caller answers for the rows. Returns how many were removed.
        """
        removed = 0
        with self._locked(fcntl.LOCK_EX):
            for sha256, stored_ns in stored.items():
                path = self._path(sha256)
                with suppress(FileNotFoundError):
                    if path.lstat().st_mtime_ns == stored_ns:
                        path.unlink()
                        removed += 1
        return removed

    async def _hop(self, fn: Callable[..., T], *args: object) -> T:
        """Run in a thread; once the disk has failed, never again."""
        if self._broken:
            raise StoreBroken("the disk has failed")
        try:
            return await self._threads.run(fn, *args)
        except StoreBroken as error:
            self._broken = True
            if self._on_broken is not None:
                self._on_broken(error)
            raise

    def _path(self, sha256: str) -> Path:
        if not _NAME.fullmatch(sha256):
            raise BlobMissing
        return self._root / sha256[:2] / sha256[2:4] / sha256

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        """Storing shares the lock, removing has it alone. Held for the look and the change, never for an fsync."""
        descriptor = os.open(self._root / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, how)  # locks of one process on two descriptors exclude each other too
            yield
        finally:
            os.close(descriptor)

    def _renew(self, refs: Iterable[BlobRef]) -> list[BlobRef]:
        """Note that these are wanted from now on. Returns those that are not there.

        A file of another size is damaged: it does not count, and is replaced.
        """
        missing = []
        with self._locked(fcntl.LOCK_SH):
            for ref in refs:
                if self.size_now(ref.sha256) == ref.size:
                    os.utime(self._path(ref.sha256), follow_symlinks=False)
                else:
                    missing.append(ref)
        return missing

    def _write_group(self, group: dict[BlobRef, bytes]) -> None:
        """All writes first, then all fsyncs: the file system commits them together."""
        uploads: list[_Upload] = []
        try:
            for data in group.values():
                upload = _Upload(self._incoming / secrets.token_hex(16))
                uploads.append(upload)
                upload.write(data)
            _sync_all(upload.sync for upload in uploads)
            self._make_durable({self._path(ref.sha256).parent for ref in group})
            with self._locked(fcntl.LOCK_SH):
                for ref, upload in zip(group, uploads, strict=True):
                    upload.move(self._path(ref.sha256))
        finally:
            for upload in uploads:
                upload.discard()

    def _finish(self, upload: _Upload) -> BlobRef:
        """Known content takes the same way as new: how long an upload takes must not tell what others have stored."""
        with disk_faults():
            ref = upload.ref()
            upload.sync()
            path = self._path(ref.sha256)
            self._make_durable({path.parent})
            with self._locked(fcntl.LOCK_SH):
                upload.move(path)
            self._sync_parents([ref])
            return ref

    def _sync_parents(self, refs: Iterable[BlobRef]) -> None:
        directories = {self._path(ref.sha256).parent for ref in refs}
        self._make_durable(directories)
        _sync_all(partial(sync_directory, directory) for directory in directories)

    def _make_durable(self, directories: Set[Path]) -> None:
        """See to it that ``directories`` exist and that a power loss does not take their names away.

        All are made before the first is synced: each sync after a change would be one more commit of the file system.
        """
        new = directories - self._durable_directories
        for directory in new:
            directory.parent.mkdir(mode=0o700, exist_ok=True)
            directory.mkdir(mode=0o700, exist_ok=True)
        firsts = {directory.parent for directory in new}
        changed = firsts if firsts <= self._durable_directories else {*firsts, self._root}
        if new:
            _sync_all(partial(sync_directory, directory) for directory in changed)
            self._durable_directories.update(new, firsts)

    def _opened(self, sha256: str) -> FileIO:
        try:
            return FileIO(self._path(sha256), opener=_open_to_read)
        except FileNotFoundError:
            raise BlobMissing from None
        except OSError as error:
            if error.errno in _NOT_A_FILE:
                raise BlobCorrupt("This content is damaged.") from error
            raise

    def _head(self, sha256: str, length: int) -> bytes:
        if (self.size_now(sha256) or 0) <= CHECKED_AHEAD_BYTES:
            self._check(sha256)
        with self._opened(sha256) as file:
            return file.read(length)

    def _check(self, sha256: str) -> None:
        with self._opened(sha256) as file:
            identity = _identity(file)
            if self._checked.get(sha256) == identity:
                return
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                raise BlobCorrupt("This content is damaged.")
        self._checked[sha256] = identity
        while len(self._checked) > MAX_REMEMBERED:
            self._checked.popitem(last=False)

    def _subdirectories(self, directory: Path) -> list[Path]:
        return sorted(
            entry for entry in directory.iterdir() if _DIRECTORY_NAME.fullmatch(entry.name) and entry.is_dir()
        )


class _Upload:
    """A blob on its way in: a temporary file, its hash and its size so far. Blocks; one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.size = 0
        self._path = path
        self._digest = hashlib.sha256()
        self._file: FileIO | None = None

    def write(self, data: bytes) -> None:
        with disk_faults():
            if self._file is None:
                self._file = FileIO(self._path, "x")
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
        self._digest.update(data)
        self.size += len(data)

    def sync(self) -> None:
        if self._file is not None:
            os.fsync(self._file.fileno())

    def ref(self) -> BlobRef:
        return BlobRef(self._digest.hexdigest(), self.size)

    def move(self, path: Path) -> None:
        self._path.rename(path)

    def discard(self) -> None:
        """Close the file, and remove it unless it has been moved to its place."""
        if self._file is not None:
            self._file.close()
            with suppress(FileNotFoundError):
                self._path.unlink()


class _Reader:
    """Reads a file piece by piece, hashing what it reads. Blocks; one thread at a time."""

    def __init__(self, file: FileIO, offset: int, length: int | None) -> None:
        self.digest = hashlib.sha256()
        self._file = file
        self._left = length
        file.seek(offset)

    def read(self) -> bytes:
        """The next piece; empty at the end."""
        wanted = CHUNK_BYTES if self._left is None else min(CHUNK_BYTES, self._left)
        data = self._file.read(wanted) or b""
        self.digest.update(data)
        if self._left is not None:
            self._left -= len(data)
        return data


def _sync_all(syncs: Iterable[Callable[[], None]]) -> None:
    """Run all, several at a time: a file system makes one commit of the syncs that wait for it together."""
    waiting = list(syncs)
    if len(waiting) == 1:
        waiting[0]()
    elif waiting:
        with ThreadPoolExecutor(min(SYNC_THREADS, len(waiting)), thread_name_prefix="blob-sync") as pool:
            for done in [pool.submit(sync) for sync in waiting]:
                done.result()


def _open_to_read(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW)


def _identity(file: FileIO) -> tuple[int, int, int]:
    status = os.fstat(file.fileno())
    return status.st_ino, status.st_size, status.st_mtime_ns
