"""Blobs: content under its own SHA-256, in files ``ab/<sha256>``.

Owns the blob tree. The order of durability is: write a temporary file, sync it, rename it, sync the directory, and only
then return, so that no row ever names a blob that a power loss took away. Many blobs are stored with one sync for their
files and one for their directories, where that is as safe (``syncing``). Content never changes once it has its name.
Damaged content is never returned as if it were whole: a reader that finds damage notes it (``suspects``), and storing
the same content again replaces it.

A blob that no row names any more is removed by code that knows the rows (``remove_old``). The file's modification time
says when the content was last stored: storing it again renews it, and a lock keeps the two from crossing.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Final, TypeVar

from svc.clock import Millis
from svc.errors import Refusal, TooLarge
from svc.overlap import feed
from svc.store.blob_files import BlobCorrupt, BlobMissing, BlobPart, BlobRef, Pieces, Reader, Upload
from svc.store.blob_tree import DAMAGED, BlobTree, is_name
from svc.store.checked import Checked, Identity, identity_at_rest, identity_of
from svc.store.faults import StoreBroken, disk_faults
from svc.store.parts import Parts
from svc.store.suspects import Suspects
from svc.store.syncing import Syncs, syncs_for, tells_of_failures
from svc.store.threads import RunsInThreads

T = TypeVar("T")

GROUP_FILES: Final = 64  # temporary files open at a time while many blobs are written and each is synced
CHECKED_AHEAD_BYTES: Final = 16 * 1024 * 1024  # content up to here is checked before the first byte is handed out

ROOM_BYTES: Final = 16 * 1024 * 1024
"""With less free space than this the disk counts as full: a mail or an upload of ordinary size no longer fits."""

_INCOMING: Final = ".incoming"
_NANOSECONDS_A_MS: Final = 1_000_000


class Blobs:
    """The blob tree of one home."""

    def __init__(
        self, root: Path, *, threads: RunsInThreads, on_broken: Callable[[StoreBroken], None] | None = None
    ) -> None:
        """``on_broken`` is called when the disk fails: then the database stops acknowledging too (``Store.fail``)."""
        self.suspects = Suspects()
        self._root = root
        self._tree = BlobTree(root)
        self._telling = False
        self._incoming = root / _INCOMING
        self.parts = Parts(root, self._hop)
        self._threads = threads
        self._on_broken = on_broken
        self._broken = False
        self._full = False
        self._checked = Checked()

    @classmethod
    def open(
        cls,
        root: Path,
        *,
        threads: RunsInThreads,
        on_broken: Callable[[StoreBroken], None] | None = None,
        read_only: bool = False,
    ) -> Blobs:
        """Create what is missing and remove files that a crash left half-written; blocks.

        The caller holds the home's lock. A caller without it opens ``read_only``: the half-written files belong to a
        running service.
        """
        blobs = cls(root, threads=threads, on_broken=on_broken)
        if read_only:
            return blobs
        blobs._incoming.mkdir(mode=0o700, parents=True, exist_ok=True)
        for leftover in blobs._incoming.iterdir():
            leftover.unlink()
        blobs.parts.make()
        blobs._telling = tells_of_failures(root)
        return blobs

    async def put(self, data: bytes) -> BlobRef:
        """Store ``data`` durably. Raises :class:`Refusal` ``insufficient_storage``."""
        return (await self.put_all([data]))[0]

    async def put_all(self, datas: Sequence[bytes]) -> list[BlobRef]:
        """Store several blobs in one hop; all are durable on return."""
        return await self._hop(self.put_all_now, datas)

    def put_all_now(self, datas: Sequence[bytes]) -> list[BlobRef]:
        """:meth:`put_all` for callers that are in a thread already; blocks."""
        refs = [BlobRef(hashlib.sha256(data).hexdigest(), len(data)) for data in datas]
        wanted = dict(zip(refs, datas, strict=True))
        with (
            self._noting_room(),
            disk_faults(),
            syncs_for(self._root, files=len(wanted), telling=self._telling) as syncs,
        ):
            missing = self._renew(wanted)
            together = len(wanted) if syncs.at_once else GROUP_FILES
            for start in range(0, len(missing), together):
                self._write_group({ref: wanted[ref] for ref in missing[start : start + together]}, syncs)
            # Also for blobs that existed: a process killed between rename and sync may have left them.
            self._tree.sync_parents([ref.sha256 for ref in refs], syncs)
            self._replaced(missing)
        return refs

    async def is_full(self) -> bool:
        """Whether the disk is nearly full, or the last attempt to store found no room. The next successful one resets
        that."""
        return self._full or await self._threads.run(self._has_hardly_room)

    def _has_hardly_room(self) -> bool:
        free = self._free_bytes()
        return free is not None and free < ROOM_BYTES

    def _free_bytes(self) -> int | None:
        """``None`` where the file system does not report its size."""
        disk = os.statvfs(self._incoming.parent)
        return disk.f_bavail * disk.f_frsize if disk.f_blocks > 0 else None

    @contextmanager
    def _noting_room(self) -> Iterator[None]:
        try:
            yield
        except Refusal as refusal:
            self._full = self._full or refusal.code == "insufficient_storage"
            raise
        self._full = False

    async def put_stream(self, chunks: AsyncIterator[bytes], *, limit: int) -> BlobRef:
        """Store what ``chunks`` yields, in constant memory. Keeps nothing when it ends early, fails or is cancelled.

        Raises :class:`TooLarge` as soon as it passes ``limit``, and whatever ``chunks`` raises.
        """
        with self._noting_room():
            return await self._put_stream(chunks, limit=limit)

    async def _put_stream(self, chunks: AsyncIterator[bytes], *, limit: int) -> BlobRef:
        upload = Upload(self._new_path())
        try:
            pieces = Pieces(chunks, limit=limit)
            await self._hop(upload.write, [])  # empty content is a file, too
            works = [partial(self._hop, upload.write), partial(self._hop, upload.hash)]
            await feed(pieces.next, works)
            return await self._hop(self._finish, upload)
        finally:
            upload.discard()

    async def adopt(self, part: str, ref: BlobRef) -> None:
        """Make the part of that name, which holds the whole content ``ref``, the blob. Safe to repeat after a crash
        that came before the caller recorded it. Raises :class:`BlobMissing` where neither the part nor the blob exists.
        """
        with self._noting_room():
            await self._hop(self._adopt, self.parts.path(part), ref)

    async def free_bytes(self) -> int | None:
        """The bytes that are free for us; ``None`` where the file system does not report them."""
        return await self._threads.run(self._free_bytes)

    async def read(self, sha256: str, *, limit: int) -> bytes:
        """The whole content, checked. Raises :class:`BlobMissing`, :class:`BlobCorrupt`, :class:`TooLarge`."""
        return await self._hop(self.read_now, sha256, limit)

    def read_now(self, sha256: str, limit: int) -> bytes:
        """:meth:`read` for callers that are in a thread already; blocks."""
        with self._noting(sha256):
            with self._tree.opened(sha256) as file:
                data = file.read(limit + 1)
            if len(data) > limit:
                raise TooLarge(f"The content has more than {limit} bytes.")
            if hashlib.sha256(data).hexdigest() != sha256:
                raise BlobCorrupt(DAMAGED)
            return data

    async def stream(self, sha256: str, *, offset: int = 0, length: int | None = None) -> AsyncGenerator[bytes, None]:
        """The content from ``offset``, ``length`` bytes at most.

        Checked while it is read: a damaged file raises :class:`BlobCorrupt` before its last piece. A range begins only
        once the whole file is known to be good.
        """
        whole = offset == 0 and length is None
        if not whole:
            self._checked.good(sha256, await self._hop(self._check, sha256, self._checked.identity(sha256)))
        file = await self._hop(self._opened, sha256)
        try:
            reader = Reader(file, offset, length)
            held = await self._hop(self._piece, sha256, reader)
            while following := await self._hop(self._piece, sha256, reader):
                yield held
                held = following
            if whole:
                self._checked.good(sha256, self._compare(sha256, reader))
            if held:
                yield held
        finally:
            file.close()

    async def opened(self, sha256: str) -> FileIO:
        """The open file, for a caller that has to seek in it; its content is not checked. The caller closes it."""
        return await self._hop(self._opened, sha256)

    async def part(self, sha256: str, *, offset: int = 0, length: int | None = None) -> BlobPart | None:
        """The same bytes, sent by the kernel without a check. The caller closes it.

        ``None`` unless the whole file was recently checked and has not changed since.
        """
        known = self._checked.identity(sha256)
        if known is None:
            return None
        file = await self._hop(self._opened_untouched, sha256, known)
        if file is None:
            return None
        size = known[1] - offset
        return BlobPart(file, offset, size if length is None else length, run=partial(self._sending, sha256))

    async def _sending(self, sha256: str, send: Callable[[], int]) -> int:
        return await self._hop(self._noted, sha256, send)

    def _noted(self, sha256: str, send: Callable[[], int]) -> int:
        with self._noting(sha256):
            return send()

    async def head(self, sha256: str, *, length: int) -> bytes:
        """The first bytes, to detect the content's type before it is streamed.

        The content is checked first, unless it has more than ``CHECKED_AHEAD_BYTES``: reading so much twice would keep
        the reader waiting, so it is checked only while it is streamed.
        """
        data, good = await self._hop(self._head, sha256, length, self._checked.identity(sha256))
        self._checked.good(sha256, good)
        return data

    async def size(self, sha256: str) -> int | None:
        """Bytes, or ``None`` when there is no such blob."""
        return await self._hop(self.size_now, sha256)

    def size_now(self, sha256: str) -> int | None:
        status = self._tree.status(sha256)
        return None if status is None else status.st_size

    def doubt(self, sha256: str, *, size: int | None) -> None:
        """Note that the caller expected another size and found ``size``; ``None``: the blob is missing."""
        self.suspects.found(sha256, "missing" if size is None else "truncated")

    def is_sound(self, sha256: str) -> bool:
        """Whether the blob exists and hashes to its name; blocks."""
        try:
            with self._noting(sha256), self._tree.opened(sha256) as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                    raise BlobCorrupt(DAMAGED)
        except (BlobMissing, BlobCorrupt):
            return False
        return True

    def settle(self, names: Iterable[str]) -> int:
        """Move blobs from the places of an earlier version. Returns how many moved; blocks."""
        return self._tree.settle(names)

    def each_sha(self) -> Iterator[str]:
        """The names of all blobs, in order; blocks."""
        return self._tree.each_sha()

    def each_old(self, before: Millis) -> Iterator[tuple[str, int]]:
        """Every blob last stored before ``before``, with that time in nanoseconds; blocks."""
        for sha256 in self.each_sha():
            status = self._tree.status(sha256)
            if status is not None and status.st_mtime_ns < before * _NANOSECONDS_A_MS:
                yield sha256, status.st_mtime_ns

    def remove_old(self, stored: Mapping[str, int]) -> int:
        """Remove blobs that no row names, unless they were stored again since ``each_old`` listed them; blocks.

        The caller makes sure that no row names them. Returns how many were removed.
        """
        removed = 0
        with self._tree.locked(fcntl.LOCK_EX):
            for sha256, stored_ns in stored.items():
                status = self._tree.status(sha256)
                if status is not None and status.st_mtime_ns == stored_ns:
                    self._tree.remove(sha256)
                    removed += 1
        return removed

    async def _hop(self, fn: Callable[..., T], *args: object) -> T:
        """Run ``fn`` in a thread; refuses once the disk has failed."""
        if self._broken:
            raise StoreBroken("the disk has failed")
        try:
            return await self._threads.run(fn, *args)
        except StoreBroken as error:
            self._broken = True
            if self._on_broken is not None:
                self._on_broken(error)
            raise

    @contextmanager
    def _noting(self, sha256: str) -> Iterator[None]:
        """Note a blob that a read finds missing or damaged. A disk that can't read it counts as damage, too."""
        try:
            yield
        except BlobMissing:
            if is_name(sha256):
                self.suspects.found(sha256, "missing")
            raise
        except BlobCorrupt:
            self._found_corrupt(sha256)
            raise
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            self._found_corrupt(sha256)
            raise BlobCorrupt(DAMAGED) from error

    def _found_corrupt(self, sha256: str) -> None:
        self._checked.forget(sha256)
        self.suspects.found(sha256, "altered" if self.size_now(sha256) else "truncated")

    def _replaced(self, refs: Iterable[BlobRef]) -> None:
        """Note that these are written again and durable: they are no longer damaged."""
        names = [ref.sha256 for ref in refs]
        self._tree.drop_old(names)
        for sha256 in names:
            self.suspects.mended(sha256)

    def _renew(self, refs: Iterable[BlobRef]) -> list[BlobRef]:
        """Renew the time of these blobs. Returns those that are missing.

        A blob with another size, or known to be damaged, counts as missing and is replaced.
        """
        wanted = list(refs)
        self._tree.settle(ref.sha256 for ref in wanted)
        missing = []
        with self._tree.locked(fcntl.LOCK_SH):
            for ref in wanted:
                if self.size_now(ref.sha256) == ref.size and ref.sha256 not in self.suspects:
                    self._tree.touch(ref.sha256)
                else:
                    missing.append(ref)
        return missing

    def _write_group(self, group: dict[BlobRef, bytes], syncs: Syncs) -> None:
        """All writes first, then all syncs: the file system commits them together."""
        uploads: list[Upload] = []
        try:
            for ref, data in group.items():
                upload = Upload(self._new_path(), known=ref)
                uploads.append(upload)
                upload.write([data])
                if syncs.at_once:
                    upload.close()
            syncs.files(uploads)
            self._tree.make_durable({self._tree.directory(ref.sha256) for ref in group})
            with self._tree.locked(fcntl.LOCK_SH):
                for ref, upload in zip(group, uploads, strict=True):
                    upload.move(self._tree.place(ref.sha256))
        finally:
            for upload in uploads:
                upload.discard()

    def _new_path(self) -> str:
        return f"{self._incoming}/{secrets.token_hex(16)}"

    def _finish(self, upload: Upload) -> BlobRef:
        """Known content is stored the same way as new: the duration of an upload must not reveal what others have
        stored."""
        with disk_faults():
            ref = upload.ref()
            upload.sync()
            path = self._tree.place(ref.sha256)
            self._tree.make_durable({self._tree.directory(ref.sha256)})
            with self._tree.locked(fcntl.LOCK_SH):
                upload.move(path)
            self._tree.sync_parents([ref.sha256])
            self._replaced([ref])
            return ref

    def _adopt(self, path: str, ref: BlobRef) -> None:
        try:
            upload = Upload(path, known=ref, exists=True)
        except FileNotFoundError as error:
            if self._renew([ref]):
                raise BlobMissing from error
            with disk_faults():
                self._tree.sync_parents([ref.sha256])
            return
        try:
            with disk_faults():
                os.utime(path)  # the time of storing is now, not when the upload began
            self._finish(upload)
        finally:
            upload.close()

    def _opened(self, sha256: str) -> FileIO:
        with self._noting(sha256):
            return self._tree.opened(sha256)

    def _opened_untouched(self, sha256: str, known: Identity) -> FileIO | None:
        file = self._opened(sha256)
        if identity_of(file) == known:
            return file
        file.close()
        return None

    def _piece(self, sha256: str, reader: Reader) -> bytes:
        with self._noting(sha256):
            return reader.read()

    def _compare(self, sha256: str, reader: Reader) -> Identity | None:
        with self._noting(sha256):
            if reader.digest.hexdigest() != sha256:
                raise BlobCorrupt(DAMAGED)
        return reader.identity_at_rest()

    def _head(self, sha256: str, length: int, known: Identity | None) -> tuple[bytes, Identity | None]:
        """The first bytes, and the file's identity if this call checked the whole file."""
        good = None
        if (self.size_now(sha256) or 0) <= CHECKED_AHEAD_BYTES or sha256 in self.suspects:
            good = self._check(sha256, known)
        with self._noting(sha256), self._tree.opened(sha256) as file:
            return file.read(length), good

    def _check(self, sha256: str, known: Identity | None) -> Identity | None:
        """Check the whole file, unless it is ``known`` to be good. Returns its identity if this call checked it."""
        with self._noting(sha256), self._tree.opened(sha256) as file:
            identity = identity_of(file)
            if identity == known:
                return None
            if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                raise BlobCorrupt(DAMAGED)
            return identity_at_rest(file, identity)
