"""The folder of the files: lists, reads and writes files. A write is complete or does nothing. Blocks; uses no
database.

Nothing outside the folder is read: links, and everything behind them, are ignored.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from svc.okf.text import CONFLICT, ENDING
from svc.pages import MAX_BODY_BYTES

MAX_FILE_BYTES: Final = MAX_BODY_BYTES + 64 * 1024
TEMPORARY: Final = ".svc-"

Stamp = tuple[int, int, int, int]


@dataclass(frozen=True)
class Folder:
    """``root`` is ``okf/`` of a home."""

    root: Path

    def files(self) -> Iterator[tuple[str, Stamp]]:
        """The names of all possible pages and kept copies, relative to the root, each with a stamp that shows a
        change."""
        for place, folders, names in os.walk(self.root, followlinks=False):
            folders[:] = sorted(one for one in folders if not one.startswith("."))
            for name in sorted(names):
                if name.endswith(ENDING) and not name.startswith("."):
                    path = os.path.join(place, name)
                    with suppress(FileNotFoundError):
                        about = os.lstat(path)
                        stamp = (about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
                        yield os.path.relpath(path, self.root), stamp

    def folders(self) -> Iterator[str]:
        for place, folders, _ in os.walk(self.root, followlinks=False):
            folders[:] = [one for one in folders if not one.startswith(".")]
            yield place

    def read(self, file: str) -> bytes | None:
        """The content; ``None`` if there is no such plain file. A file that is too large is read only just beyond the
        limit, so that the caller sees it."""
        try:
            path = self._inside(file)
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.EACCES}:
                return None
            raise
        with os.fdopen(descriptor, "rb") as stream:
            try:
                return stream.read(MAX_FILE_BYTES + 1)
            except IsADirectoryError:
                return None

    def write(self, file: str, data: bytes, *, durable: bool = True) -> None:
        """Writes the file. Raises ``OSError`` if that fails. If not ``durable``, a power loss may leave the
        file empty."""
        path = self._inside(file)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._inside(file)
        temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(8)}")
        try:
            with temporary.open("xb") as stream:
                os.fchmod(stream.fileno(), 0o600)
                stream.write(data)
                stream.flush()
                if durable:
                    os.fsync(stream.fileno())
            temporary.rename(path)
        finally:
            with suppress(FileNotFoundError):
                temporary.unlink()

    def remove(self, file: str) -> None:
        """Deletes the file, and the folders that become empty."""
        path = self._inside(file)
        with suppress(FileNotFoundError, NotADirectoryError):
            path.unlink()
        for above in path.parents:
            if above == self.root:
                break
            try:
                above.rmdir()
            except OSError:
                break

    def remove_half_written(self) -> None:
        """Deletes half-written files of a killed process."""
        for place, _, names in os.walk(self.root, followlinks=False):
            for name in names:
                if name.startswith(TEMPORARY):
                    with suppress(FileNotFoundError):
                        os.unlink(os.path.join(place, name))

    def _inside(self, file: str) -> Path:
        path = self.root / file
        real = os.path.realpath(path.parent)
        if real != os.path.join(os.path.realpath(self.root), os.path.dirname(file)).rstrip("/"):
            raise OSError(errno.ELOOP, "a link leads out of the folder")
        return path


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def is_copy(file: str) -> bool:
    return CONFLICT in file
