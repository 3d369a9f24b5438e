"""Writes and reads the file of one blob, and defines what a blob reference is and how a blob can be damaged.

Owns the temporary file of an upload and the reading of a file piece by piece. ``blob_tree.py`` owns the paths.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import FileIO
from typing import Final, Literal

from svc.errors import NotFound, TooLarge
from svc.store.checked import Identity, identity_at_rest, identity_of
from svc.store.faults import disk_faults

CHUNK_BYTES: Final = 1024 * 1024  # read or written in one thread hop

WRITTEN_OUT_BYTES: Final = 8 * 1024 * 1024
"""The number of written bytes after which the system is asked to bring them to the disk."""

SENT_AT_ONCE_BYTES: Final = 4 * 1024 * 1024  # in one thread hop, to a socket that takes so much

NOT_A_FILE: Final = frozenset({errno.ELOOP, errno.EISDIR})

Harm = Literal["missing", "truncated", "altered"]
"""How a blob's content differs from its name, which is its hash."""


@dataclass(frozen=True, slots=True)
class BlobRef:
    """The address of some content, and its size in bytes."""

    sha256: str
    size: int


class BlobMissing(NotFound):
    """There is no such blob."""


class BlobCorrupt(NotFound):
    """The stored content does not match its name (its hash); it is never returned."""


class WriteOut:
    """Has the system bring a growing file to the disk while more of it comes, so that its sync waits for little.

    It promises nothing: durable is what was synced.
    """

    def __init__(self, begun: int = 0) -> None:
        """``begun``: bytes that were there before."""
        self._begun = begun

    def reached(self, descriptor: int, size: int) -> None:
        """``size`` bytes are written. Cheap: it does not wait for the disk."""
        if size - self._begun >= WRITTEN_OUT_BYTES and sys.platform == "linux":
            # Linux writes out such pages; it drops from memory only those that need no writing.
            os.posix_fadvise(descriptor, self._begun, size - self._begun, os.POSIX_FADV_DONTNEED)
            self._begun = size


class Upload:
    """A blob that is being written: a temporary file, its hash and its size so far. Blocks; one thread at a time, but
    for :meth:`hash`.

    ``known``: its hash and size, where the caller has computed them already. ``exists``: the file exists and is
    complete.
    """

    def __init__(self, path: str, *, known: BlobRef | None = None, exists: bool = False) -> None:
        self.size = 0
        self._known = known
        self._path = path
        self._digest = hashlib.sha256()
        self._file = open_to_read(path) if exists else None
        self._moved = False
        self._write_out = WriteOut()

    def write(self, pieces: Sequence[bytes]) -> None:
        with disk_faults():
            if self._file is None:
                self._file = FileIO(self._path, "x")
            self.size += write_whole(self._file, pieces)
            self._write_out.reached(self._file.fileno(), self.size)

    def hash(self, pieces: Sequence[bytes]) -> None:
        """Hash what is written, too; at the same time, in another thread, if the caller likes."""
        for piece in pieces:
            self._digest.update(piece)

    def sync(self) -> None:
        if self._file is not None:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file without a sync: many uploads can wait for a common sync without an open file each."""
        if self._file is not None:
            self._file.close()

    def ref(self) -> BlobRef:
        return self._known or BlobRef(self._digest.hexdigest(), self.size)

    def move(self, path: str) -> None:
        os.rename(self._path, path)
        self._moved = True

    def discard(self) -> None:
        """Close the file, and remove it unless it has been moved to its place."""
        if self._file is not None:
            self._file.close()
            if not self._moved:
                with suppress(FileNotFoundError):
                    os.unlink(self._path)


class Pieces:
    """Collects the chunks of a stream into pieces large enough for a hop to a thread. ``given``: bytes returned so far.
    ``size``: bytes received since. ``ended``: the stream has no more of them."""

    def __init__(self, chunks: AsyncIterator[bytes], *, limit: int) -> None:
        """Raises :class:`TooLarge` as soon as the stream passes ``limit`` bytes."""
        self.given = 0
        self.size = 0
        self.ended = False
        self._limit = limit
        self._left = limit
        self._chunks = chunks
        self._pending: list[bytes] = []

    async def next(self) -> bytes:
        """The next piece; empty at the end."""
        while self.size < CHUNK_BYTES:
            chunk = await anext(self._chunks, None)
            if chunk is None:
                self.ended = True
                break
            self._left -= len(chunk)
            if self._left < 0:
                raise TooLarge(f"The content may have at most {self._limit} bytes.")
            self._pending.append(chunk)
            self.size += len(chunk)
        return self.rest()

    def stretch(self, size: int) -> Callable[[], Awaitable[bytes]]:
        """:meth:`next` for about ``size`` bytes: after them it returns an empty piece, too."""
        end = self.given + size

        async def next_within() -> bytes:
            return b"" if self.given >= end else await self.next()

        return next_within

    def rest(self) -> bytes:
        """The bytes received that do not fill a piece yet."""
        piece = b"".join(self._pending)
        self._pending, self.size = [], 0
        self.given += len(piece)
        return piece


class Reader:
    """Reads a file piece by piece, hashing what it reads. Blocks; one thread at a time."""

    def __init__(self, file: FileIO, offset: int, length: int | None) -> None:
        self.digest = hashlib.sha256()
        self._file = file
        self._identity = identity_of(file)
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

    def identity_at_rest(self) -> Identity | None:
        """The identity of the file; ``None`` where it changed, or may have, while it was read."""
        return identity_at_rest(self._file, self._identity)


class BlobPart:
    """Bytes of a checked file, sent by the kernel: they never come into this process's memory."""

    def __init__(
        self, file: FileIO, offset: int, length: int, *, run: Callable[[Callable[[], int]], Awaitable[int]]
    ) -> None:
        """``run`` runs a blocking step in a thread, because the disk may have to be read."""
        self.left = length
        self._file = file
        self._offset = offset
        self._run = run

    async def send_to(self, descriptor: int) -> int:
        """Send some bytes and return how many the socket took; 0 while it is full. Raises ``OSError`` when the socket
        is closed, and :class:`BlobCorrupt` when the file is shorter than expected."""
        sent = await self._run(partial(self._send, descriptor))
        self._offset += sent
        self.left -= sent
        return sent

    def close(self) -> None:
        self._file.close()

    def _send(self, descriptor: int) -> int:
        try:
            sent = os.sendfile(descriptor, self._file.fileno(), self._offset, min(self.left, SENT_AT_ONCE_BYTES))
        except BlockingIOError:
            return 0
        if not sent:
            raise BlobCorrupt
        return sent


def write_whole(file: FileIO, pieces: Sequence[bytes]) -> int:
    """Write all of it, and return the number of bytes."""
    for piece in pieces:
        rest = memoryview(piece)
        while rest:
            rest = rest[file.write(rest) :]
    return sum(map(len, pieces))


def open_to_read(path: str) -> FileIO:
    """Open a file, but never through a symbolic link: a link could point to a file that must not be read."""
    return FileIO(path, opener=_open_to_read)


def _open_to_read(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW)
