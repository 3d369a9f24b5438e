"""Blobs that are uploaded in several calls: a file ``.parts/<name>`` for each, with the bytes so far.

Theory. A client that sends a large file may lose the connection, or we may crash: then it sends the rest later. The
owner of the upload's record writes into it how many bytes are durable, after :meth:`Part.sync`. Bytes in the file
beyond that were written in the last moments before a crash and may be anything: opening the file cuts them off. A file
shorter than its record says is lost.

Owns the directory and its files, not their records. A part becomes a blob by ``Blobs.adopt``.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Final, Protocol, TypeVar

from svc.store.blob_files import CHUNK_BYTES, NOT_A_FILE, BlobMissing, WriteOut, write_whole
from svc.store.faults import disk_faults
from svc.store.home import sync_directory

T = TypeVar("T")

DIRECTORY: Final = ".parts"
_NAME: Final = re.compile(r"[a-z0-9_]{1,64}")


class Digest(Protocol):
    """A hash object of :mod:`hashlib` that is still being fed."""

    def update(self, data: bytes, /) -> None: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...
    def copy(self) -> Digest: ...


class Hops(Protocol):
    """Runs blocking calls in a thread, and never again once the disk has failed."""

    async def __call__(self, fn: Callable[..., T], *args: object) -> T: ...


class PartLost(BlobMissing):
    """The file has fewer bytes than were once durable."""


class Part:
    """The bytes of one upload so far, open for more. Blocks; one thread at a time, but for :meth:`hash`."""

    def __init__(self, path: str, *, size: int, digest: Digest | None) -> None:
        """``digest``: that of the first ``size`` bytes, if it is known."""
        self.path = path
        self.size = size
        self._digest: Digest = digest or hashlib.sha256()
        self._hashed = size if digest else 0
        self._follows = self._hashed == size
        self._file = FileIO(path, "r+", opener=_open)
        self._is_named = False
        self._write_out = WriteOut(size)
        try:
            if os.fstat(self._file.fileno()).st_size < size:
                raise PartLost
            self.cut(size)
        except BaseException:
            self._file.close()
            raise

    def write(self, pieces: Sequence[bytes]) -> None:
        with disk_faults():
            self.size += write_whole(self._file, pieces)
            self._write_out.reached(self._file.fileno(), self.size)

    def hash(self, pieces: Sequence[bytes]) -> None:
        """Hash what is written, too, all of it in its order; at the same time, in another thread, if the caller likes.
        Does nothing if bytes before it are not hashed."""
        if self._follows:
            for piece in pieces:
                self._digest.update(piece)
                self._hashed += len(piece)

    def cut(self, size: int) -> None:
        """Cut the file to ``size`` bytes."""
        with disk_faults():
            self._file.truncate(size)
            self._file.seek(size)
        if size < self._hashed:
            self._digest, self._hashed = hashlib.sha256(), 0
        self.size = size
        self._follows = self._hashed == size

    def sync(self) -> None:
        """Sync the file; all that was written is durable on return."""
        with disk_faults():
            os.fsync(self._file.fileno())
            if not self._is_named:
                sync_directory(os.path.dirname(self.path))
        self._is_named = True

    @property
    def unhashed(self) -> int:
        """The number of bytes that have to be read again for the digest."""
        return self.size if self._hashed > self.size else self.size - self._hashed

    def digest(self) -> Digest:
        """A copy of the digest of all bytes. Those that were not hashed as they came are read again; all of them if
        bytes were hashed that could not be written."""
        if self._hashed > self.size:
            self._digest, self._hashed = hashlib.sha256(), 0
        while self._hashed < self.size:
            piece = os.pread(self._file.fileno(), min(CHUNK_BYTES, self.size - self._hashed), self._hashed)
            if not piece:
                raise PartLost
            self._digest.update(piece)
            self._hashed += len(piece)
        self._follows = True
        return self._digest.copy()

    def close(self) -> None:
        self._file.close()


class Parts:
    """All parts of one home."""

    def __init__(self, root: Path, hop: Hops) -> None:
        self._directory = root / DIRECTORY
        self._hop = hop

    def make(self) -> None:
        self._directory.mkdir(mode=0o700, exist_ok=True)

    def path(self, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a part")
        return f"{self._directory}/{name}"

    async def opened(self, name: str, *, size: int, digest: Digest | None = None) -> Part:
        """Open the part with its first ``size`` bytes; a new one if it does not exist. Raises :class:`PartLost`."""
        return await self._hop(self._open, name, size, digest)

    async def names(self) -> list[str]:
        return await self._hop(lambda: sorted(entry.name for entry in self._directory.iterdir()))

    async def remove(self, names: Iterable[str]) -> None:
        await self._hop(self._remove, list(names))

    def _open(self, name: str, size: int, digest: Digest | None) -> Part:
        with disk_faults():
            try:
                return Part(self.path(name), size=size, digest=digest)
            except OSError as error:
                if error.errno in NOT_A_FILE | {errno.ENXIO}:
                    raise PartLost from error
                raise

    def _remove(self, names: list[str]) -> None:
        for name in names:
            with suppress(FileNotFoundError):
                os.unlink(self._directory / name)


def _open(path: str, flags: int) -> int:
    """Open for reading and writing, create it if it does not exist; never through a symbolic link."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
