"""The paths of blobs: ``ab/<sha256>``, and in homes of earlier versions ``ab/cd/<sha256>``.

Both places are read. A blob at an old place is moved to the new one when it is stored again or checked: it is renamed,
then both directories are fsynced, the new one first, so that after a crash or a power loss it is at one of them. Where
a file is at both, the new place counts: it was written later.

Owns the paths, and the lock that separates storing from removing and moving.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Collection, Iterable, Iterator, Set
from contextlib import contextmanager, suppress
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Final

from svc.store.blob_files import NOT_A_FILE, BlobCorrupt, BlobMissing, open_to_read
from svc.store.faults import disk_faults
from svc.store.home import sync_directory
from svc.store.syncing import EACH, Syncs, sync_all

DAMAGED: Final = "This content is damaged."

_NAME: Final = re.compile(r"[0-9a-f]{64}")
_DIRECTORY_NAME: Final = re.compile(r"[0-9a-f]{2}")
_LOCK: Final = ".lock"


class BlobTree:
    """The paths of one home's blobs. All methods block."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._prefix = f"{root}/"  # strings and no Path objects: a page of mail asks for a thousand paths
        self._durable_directories: set[str] = set()  # at most 256

    def place(self, sha256: str) -> str:
        """The path where the blob belongs. Raises :class:`BlobMissing` if ``sha256`` is not a valid name."""
        return f"{self.directory(sha256)}/{sha256}"

    def directory(self, sha256: str) -> str:
        """The directory that it belongs in. Raises as :meth:`place` does."""
        if not is_name(sha256):
            raise BlobMissing
        return self._prefix + sha256[:2]

    def opened(self, sha256: str) -> FileIO:
        """Open its file, at the new or the old place."""
        for path in self._places(sha256):
            try:
                return open_to_read(path)
            except FileNotFoundError:
                continue
            except OSError as error:
                if error.errno in NOT_A_FILE:
                    raise BlobCorrupt(DAMAGED) from error
                raise
        raise BlobMissing

    def status(self, sha256: str) -> os.stat_result | None:
        """The status of its file, at the new or the old place; does not follow a link."""
        with suppress(BlobMissing):
            for path in self._places(sha256):
                with suppress(FileNotFoundError):
                    return os.lstat(path)
        return None

    def touch(self, sha256: str) -> None:
        """Set the file's time to now: the blob was stored again."""
        os.utime(self.place(sha256), follow_symlinks=False)

    def remove(self, sha256: str) -> None:
        for path in (self.place(sha256), self._old_place(sha256)):
            with suppress(FileNotFoundError):
                os.unlink(path)

    def drop_old(self, names: Iterable[str]) -> None:
        """Remove the copies at the old places of blobs that are durable at the new one. A copy that a crash leaves does
        no harm."""
        for sha256 in names:
            with suppress(FileNotFoundError):
                os.unlink(self._old_place(sha256))

    def each_sha(self) -> Iterator[str]:
        """The names of all blobs, in order."""
        for first in _directories(self._root):
            # List the old places first: a blob that is moved meanwhile is then seen twice, not missed.
            names = {name for second in _directories(first) for name in _names(second)}
            yield from sorted(names | _names(first))

    def settle(self, names: Iterable[str]) -> int:
        """Move blobs from their old places to the new ones; durable on return. Returns how many moved."""
        old = [sha256 for sha256 in names if is_name(sha256) and os.path.lexists(self._old_place(sha256))]
        if not old:
            return 0
        with disk_faults():
            places = {self.directory(sha256) for sha256 in old}
            self.make_durable(places)
            with self.locked(fcntl.LOCK_EX):
                moved = sum(self._move(sha256) for sha256 in old)
            sync_all(partial(sync_directory, directory) for directory in places)
            self.drop_old(old)
            emptied = {os.path.dirname(self._old_place(sha256)) for sha256 in old}
            sync_all(partial(_sync_if_there, directory) for directory in emptied)
            for directory in emptied:
                with suppress(OSError):  # not empty yet, or already removed
                    os.rmdir(directory)
        return moved

    def sync_parents(self, names: Collection[str], syncs: Syncs = EACH) -> None:
        directories = {self.directory(sha256) for sha256 in names}
        self.make_durable(directories)
        syncs.directories(directories)

    def make_durable(self, directories: Set[str]) -> None:
        """Create ``directories`` so that they survive a power loss.

        All are made before the root is synced: each sync after a change would be one more commit of the file system.
        """
        new = directories - self._durable_directories
        for directory in new:
            Path(directory).mkdir(mode=0o700, exist_ok=True)
        if new:
            sync_directory(self._root)
            self._durable_directories.update(new)

    @contextmanager
    def locked(self, how: int) -> Iterator[None]:
        """Take the lock: shared to store, exclusive to remove or move. Held for the check and the change, never for an
        fsync."""
        descriptor = os.open(self._root / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, how)  # locks of one process on two descriptors exclude each other too
            yield
        finally:
            os.close(descriptor)

    def _places(self, sha256: str) -> tuple[str, ...]:
        """The paths to try, in order. The first one comes twice, because the blob may be moved between two tries."""
        place = self.place(sha256)
        return place, self._old_place(sha256), place

    def _old_place(self, sha256: str) -> str:
        return f"{self._prefix}{sha256[:2]}/{sha256[2:4]}/{sha256}"

    def _move(self, sha256: str) -> bool:
        if os.path.lexists(self.place(sha256)):
            return False
        with suppress(FileNotFoundError):
            os.rename(self._old_place(sha256), self.place(sha256))
            return True
        return False


def is_name(sha256: str) -> bool:
    return _NAME.fullmatch(sha256) is not None


def _sync_if_there(directory: str) -> None:
    with suppress(FileNotFoundError):
        sync_directory(directory)


def _directories(directory: Path) -> list[Path]:
    with suppress(FileNotFoundError):
        return sorted(
            entry for entry in directory.iterdir() if _DIRECTORY_NAME.fullmatch(entry.name) and entry.is_dir()
        )
    return []  # removed since it was listed


def _names(directory: Path) -> set[str]:
    with suppress(FileNotFoundError):
        return {entry.name for entry in directory.iterdir() if is_name(entry.name)}
    return set()
