"""Makes written files durable: by one sync for each file and directory, or by one sync for many.

Theory: a journal commits all that waits for it at once, so one sync of the file system makes a page of mail durable in
the time that a single file takes. It is as safe as a sync of each only if it reports failed writes: on Linux since 5.8,
and on file systems that store their files themselves (one on top of another may not learn of the other's failures).
Otherwise each is synced, and also for a few files: they are not worth the wait for the file system's other work.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Iterable, Iterator, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from svc.store.blob_files import Upload
from svc.store.home import sync_directory

MANY: Final = 32
"""From this number of files on, one sync for all."""

SYNC_THREADS: Final = 8
"""Syncs of single files that wait for the disk at the same time."""

_MOUNTS: Final = Path("/proc/self/mountinfo")
_TELLING: Final = frozenset({"btrfs", "ext4", "xfs"})
_TELLING_SINCE: Final = (5, 8)
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, kw_only=True)
class Syncs:
    """The syncs of one call that stores. ``file_system``: a descriptor on it, opened before the first byte was written,
    because only such a one reports all failures since; ``None``: each file is synced."""

    file_system: int | None = None

    @property
    def at_once(self) -> bool:
        return self.file_system is not None

    def files(self, uploads: Iterable[Upload]) -> None:
        """Sync ``uploads``: all that was written is durable on return."""
        if self.file_system is None:
            sync_all(upload.sync for upload in uploads)
        else:
            sync_file_system(self.file_system)

    def directories(self, directories: Set[str]) -> None:
        """Sync ``directories``: the names in them are durable on return."""
        if self.file_system is None:
            sync_all(partial(sync_directory, directory) for directory in directories)
        else:
            sync_file_system(self.file_system)


EACH: Final = Syncs()


@contextmanager
def syncs_for(root: Path, *, files: int, telling: bool) -> Iterator[Syncs]:
    """The syncs for a call that stores ``files`` files below ``root``. ``telling``: the result of
    :func:`tells_of_failures`."""
    if files < MANY or not telling:
        yield EACH
        return
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield Syncs(file_system=descriptor)
    finally:
        os.close(descriptor)


def sync_all(syncs: Iterable[Callable[[], None]]) -> None:
    """Run all, several at a time: a file system makes one commit of the syncs that wait at the same time."""
    waiting = list(syncs)
    if len(waiting) == 1:
        waiting[0]()
    elif waiting:
        with ThreadPoolExecutor(min(SYNC_THREADS, len(waiting)), thread_name_prefix="blob-sync") as pool:
            for done in [pool.submit(sync) for sync in waiting]:
                done.result()


def sync_file_system(descriptor: int) -> None:
    """Sync a whole file system: everything written to it is durable on return. Raises :class:`OSError`."""
    if _libc().syncfs(descriptor) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def tells_of_failures(path: Path) -> bool:
    """Whether one sync of the file system of ``path`` is as safe as one of each file."""
    system = os.uname()
    found = re.match(r"(\d+)\.(\d+)", system.release)
    if system.sysname != "Linux" or found is None or (int(found[1]), int(found[2])) < _TELLING_SINCE:
        return False
    try:
        mounts = _MOUNTS.read_text(errors="surrogateescape")
    except OSError:
        return False
    return hasattr(_libc(), "syncfs") and file_system_of(path.resolve(), mounts) in _TELLING


def file_system_of(path: Path, mounts: str) -> str | None:
    """The type of the file system of an absolute path, by the lines of ``/proc/self/mountinfo``. If several are mounted
    at one place, the last one counts."""
    found: tuple[int, str] | None = None
    for line in mounts.splitlines():
        place, _, kind = line.partition(" - ")
        fields = place.split(" ")
        if len(fields) < 5 or not kind:
            continue
        mounted_at = Path(_OCTAL.sub(lambda code: chr(int(code[1], 8)), fields[4]))
        depth = len(mounted_at.parts)
        if path.is_relative_to(mounted_at) and (found is None or depth >= found[0]):
            found = depth, kind.split(" ")[0]
    return None if found is None else found[1]


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
