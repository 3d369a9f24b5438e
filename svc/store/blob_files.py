"""One blob's file: on its way in, and on its way out. What a blob is, and the ways in which it can be none.

Owns the temporary file of an upload and the reading of a file piece by piece. Where files lie is ``blob_tree.py``'s.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import FileIO
from typing import Final, Literal

from svc.errors import NotFound, TooLarge
from svc.store.checked import Identity, identity_at_rest, identity_of
from svc.store.faults import disk_faults

CHUNK_BYTES: Final = 512 * 1024  # read or written in one thread hop

SENT_AT_ONCE_BYTES: Final = 4 * 1024 * 1024  # in one thread hop, to a socket that takes so much

NOT_A_FILE: Final = frozenset({errno.ELOOP, errno.EISDIR})

Harm = Literal["missing", "truncated", "altered"]
"""What happened to a blob that is not what its name says."""


@dataclass(frozen=True, slots=True)
class BlobRef:
    """The address of some content, and its size in bytes."""

    sha256: str
    size: int


class BlobMissing(NotFound):
    """There is no such blob."""


class BlobCorrupt(NotFound):
    """What is stored under this name is not what the name says; it is not handed out."""


class Upload:
    """A blob on its way in: a temporary file, its hash and its size so far. Blocks; one thread at a time.

    ``known``: what it is going to be, where somebody has hashed it already. ``exists``: its file is there, and whole.
    """

    def __init__(self, path: str, *, known: BlobRef | None = None, exists: bool = False) -> None:
        self.size = 0
        self._known = known
        self._path = path
        self._digest = hashlib.sha256()
        self._file = open_to_read(path) if exists else None
        self._moved = False

    def write(self, data: bytes) -> None:
        with disk_faults():
            if self._file is None:
                self._file = FileIO(self._path, "x")
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
        if self._known is None:
            self._digest.update(data)
        self.size += len(data)

    def sync(self) -> None:
        if self._file is not None:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Nothing more is written, and it is not synced by itself: many may wait without an open file each."""
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
    """A stream of chunks in pieces that are worth a thread. ``given``: bytes of those; ``size``: that came since."""

    def __init__(self, chunks: AsyncIterator[bytes], *, limit: int) -> None:
        """Raises :class:`TooLarge` with the byte that passes ``limit``."""
        self.given = 0
        self.size = 0
        self._limit = limit
        self._left = limit
        self._chunks = chunks
        self._pending: list[bytes] = []

    async def next(self) -> bytes:
        """Empty at the end."""
        while self.size < CHUNK_BYTES:
            chunk = await anext(self._chunks, None)
            if chunk is None:
                break
            self._left -= len(chunk)
            if self._left < 0:
                raise TooLarge(f"The content may have at most {self._limit} bytes.")
            self._pending.append(chunk)
            self.size += len(chunk)
        return self.rest()

    def rest(self) -> bytes:
        """What came, and is not yet worth a thread."""
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
        """Of the file that was read; ``None`` where somebody touches it."""
        return identity_at_rest(self._file, self._identity)


class BlobPart:
    """Bytes of a file that is known to be good, for the system to send: they never come into this process's memory."""

    def __init__(
        self, file: FileIO, offset: int, length: int, *, run: Callable[[Callable[[], int]], Awaitable[int]]
    ) -> None:
        """``run`` does a blocking step in a thread: the disk may have to be read."""
        self.left = length
        self._file = file
        self._offset = offset
        self._run = run

    async def send_to(self, descriptor: int) -> int:
        """So many bytes the socket took at once; 0 while it is full. Raises ``OSError`` where it is gone, and
        :class:`BlobCorrupt` where the file has no more."""
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


def open_to_read(path: str) -> FileIO:
    """Never through a link: whoever can put one there must not have another file handed out."""
    return FileIO(path, opener=_open_to_read)


def _open_to_read(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW)
