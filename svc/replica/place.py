"""The storage of ``svc replica serve``: files ``ab/cd/<sha256>`` below one folder, and empty ones ``….tombstone``.

A blob is written to a temporary file, hashed meanwhile and synced, and only then gets its name: a file with a name is
complete and durable. Requests about one blob wait for each other. Content never changes, so writing it again is safe,
and repairs damage by the disk. A blob can only be deleted seven days after its tombstone was made, by the clock of this
machine: a thief of a workspace's token can't empty the place.

Owns the folder. It knows no HTTP.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

import trio

from svc.clock import SECOND_MS, Clock, Millis
from svc.errors import Conflict, Invalid, Refusal
from svc.nursery import ThreadPool
from svc.replica.rows import TOMBSTONE_MS

TOMBSTONE: Final = ".tombstone"
PIECE_BYTES: Final = 512 * 1024
_INCOMING: Final = ".incoming"
_NAME: Final = re.compile(r"[0-9a-f]{64}")
_NANOSECONDS_A_MS: Final = 1_000_000
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A file of the place: ``at`` is when it was last written."""

    size: int
    at: Millis


@dataclass(kw_only=True)
class Place:
    """``root`` is created if it is missing. Only one process may have it open: opening removes half-written files."""

    root: Path
    clock: Clock
    threads: ThreadPool
    _turns: dict[str, trio.Lock] = field(default_factory=dict)

    def open(self) -> None:
        """Blocks."""
        incoming = self.root / _INCOMING
        incoming.mkdir(mode=0o700, parents=True, exist_ok=True)
        for leftover in incoming.iterdir():
            leftover.unlink()

    async def kept(self, name: str) -> Kept | None:
        """The blob or tombstone of that name."""
        return await self.threads.run(_kept, self._path(name))

    async def digest(self, name: str) -> bytes:
        """The hash of the stored content. Raises :class:`FileNotFoundError`."""
        return await self.threads.run(_digest, self._path(name))

    async def stream(self, name: str, *, offset: int, length: int) -> AsyncGenerator[bytes, None]:
        file = await self.threads.run(_opened, self._path(name))
        try:
            await self.threads.run(file.seek, offset)
            left = length
            while left and (piece := await self.threads.run(file.read, min(left, PIECE_BYTES))):
                left -= len(piece)
                yield piece
        finally:
            file.close()

    async def put(self, sha256: str, pieces: AsyncIterator[bytes], *, once: bool) -> bool:
        """Store a blob and remove its tombstone. Returns False, without reading: ``once``, and the blob exists already.

        Raises :class:`Invalid` where the bytes do not match the name, :class:`Refusal` ``insufficient_storage``, and
        what ``pieces`` raises; then nothing is stored.
        """
        path = self._path(sha256)
        async with self._alone(sha256):
            await self.threads.run(_remove, path.with_name(path.name + TOMBSTONE))
            if once and await self.threads.run(_kept, path) is not None:
                return False
        # No lock while it is received, which may take long: two uploads of one name write the same bytes.
        temporary = self.root / _INCOMING / secrets.token_hex(16)
        try:
            await self._receive(sha256, pieces, temporary)
            async with self._alone(sha256):
                with _told():
                    await self.threads.run(_move, temporary, path, self.root)
        finally:
            with trio.CancelScope(shield=True):  # one call that can't block forever
                await self.threads.run(_remove, temporary)
        return True

    async def _receive(self, sha256: str, pieces: AsyncIterator[bytes], temporary: Path) -> None:
        digest = hashlib.sha256()
        with _told():
            file = await self.threads.run(_created, temporary)
        try:
            async for piece in pieces:
                with _told():
                    await self.threads.run(_write, file, digest, piece)
            if digest.hexdigest() != sha256:
                raise Invalid("The content is not what its name says.")
            with _told():
                await self.threads.run(_sync, file)
        finally:
            file.close()

    async def bury(self, sha256: str) -> None:
        """Write its tombstone, with the time of now."""
        path = self._path(sha256 + TOMBSTONE)
        async with self._alone(sha256):
            with _told():
                await self.threads.run(_mark, path, self.root, self.clock.now())

    async def unbury(self, sha256: str) -> bool:
        async with self._alone(sha256):
            return await self.threads.run(_remove, self._path(sha256 + TOMBSTONE))

    async def delete(self, sha256: str) -> bool:
        """Delete the blob. Raises :class:`Conflict` before the time of its tombstone is over."""
        async with self._alone(sha256):
            path = self._path(sha256)
            if await self.threads.run(_kept, path) is None:
                return False
            tombstone = await self.threads.run(_kept, path.with_name(path.name + TOMBSTONE))
            if tombstone is None or self.clock.now() - tombstone.at < TOMBSTONE_MS:
                raise Conflict("A blob goes only seven days after its tombstone was put.")
            return await self.threads.run(_remove, path)

    def _path(self, name: str) -> Path:
        assert is_name(name.removesuffix(TOMBSTONE)), "whoever asks has looked"
        return self.root / name[:2] / name[2:4] / name

    @asynccontextmanager
    async def _alone(self, sha256: str) -> AsyncIterator[None]:
        turn = self._turns.setdefault(sha256, trio.Lock())
        try:
            async with turn:
                yield
        finally:
            if not turn.locked():
                self._turns.pop(sha256, None)


def is_name(sha256: str) -> bool:
    return _NAME.fullmatch(sha256) is not None


class _told:  # noqa: N801  a context, used as one
    """Turns a full disk into a refusal, and other disk errors into a fault."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and error.errno in _FULL:
            raise Refusal("There is no room left here.", code="insufficient_storage") from error


def _kept(path: Path) -> Kept | None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    return Kept(size=status.st_size, at=status.st_mtime_ns // _NANOSECONDS_A_MS)


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _opened(path: Path) -> BinaryIO:
    return path.open("rb", buffering=0)


def _created(path: Path) -> BinaryIO:
    return path.open("xb", buffering=0)


def _write(file: BinaryIO, digest: hashlib._Hash, piece: bytes) -> None:
    digest.update(piece)
    rest = memoryview(piece)
    while rest:
        rest = rest[file.write(rest) :]


def _sync(file: BinaryIO) -> None:
    os.fsync(file.fileno())


def _move(temporary: Path, path: Path, root: Path) -> None:
    _make_folder(path.parent, root)
    temporary.rename(path)
    _sync_folder(path.parent)


def _mark(path: Path, root: Path, at: Millis) -> None:
    _make_folder(path.parent, root)
    path.touch(mode=0o600)
    os.utime(path, (at / SECOND_MS, at / SECOND_MS))
    _sync_folder(path.parent)


def _make_folder(folder: Path, root: Path) -> None:
    for one in (folder.parent, folder):
        if not one.is_dir():
            one.mkdir(mode=0o700, exist_ok=True)
            _sync_folder(one.parent)


def _remove(path: Path) -> bool:
    with suppress(FileNotFoundError):
        path.unlink()
        _sync_folder(path.parent)
        return True
    return False


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
