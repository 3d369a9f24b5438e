"""The sets of plugins on disk: one in force, one that is being made, and the switch between them.

    plugins/current         the name of the set in force, or no file
    plugins/set-<name>/     a complete set: set.json, package.json, package-lock.json, node_modules/
    plugins/making-<name>/  one that is not complete

A set is completed and made durable before ``current`` names it, and that is one rename. So after a crash at any time,
either the old set or the new one is in force. The next clean-up removes the sets that ``current`` does not
name. All of this blocks, so run it in a thread.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from svc.store import write_durably

FOLDER: Final = "plugins"
LOCK_NAME: Final = "package-lock.json"
MAX_FILES: Final = 20_000
MAX_BYTES: Final = 256 * 1024 * 1024
MAX_LOCK_BYTES: Final = 8 * 1024 * 1024

_CURRENT: Final = "current"
_SET: Final = "set-"
_MAKING: Final = "making-"
_RECORD: Final = "set.json"


class BadSet(Exception):
    """The installed packages can't be used. The message says why, in one sentence."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The request that a set was made for: the wanted plugins, and their registry."""

    wanted: tuple[str, ...]
    registry: str


@dataclass(frozen=True, kw_only=True)
class InstalledSet:
    path: Path
    record: Record


@dataclass(frozen=True)
class Sets:
    """The folder ``plugins`` of a home."""

    root: Path

    def current(self) -> InstalledSet | None:
        """The set in force; ``None`` if there is none, or if it is damaged: then it is made again."""
        try:
            name = (self.root / _CURRENT).read_text("ascii")
            if not name.startswith(_SET) or "/" in name:
                return None
            path = self.root / name
            return InstalledSet(path=path, record=msgspec.json.decode((path / _RECORD).read_bytes(), type=Record))
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
            return None

    def begin(self) -> Path:
        """An empty folder for a new set."""
        self.root.mkdir(mode=0o700, exist_ok=True)
        path = self.root / f"{_MAKING}{secrets.token_hex(8)}"
        path.mkdir(mode=0o700)
        return path

    def switch(self, made: Path, record: Record) -> InstalledSet:
        """Put the set in ``made`` in force."""
        write_durably(made / _RECORD, msgspec.json.encode(record))
        _make_durable(made)
        path = self.root / made.name.replace(_MAKING, _SET, 1)
        made.rename(path)
        _sync(self.root)
        write_durably(self.root / _CURRENT, path.name.encode())
        self.clean_up()
        return InstalledSet(path=path, record=record)

    def clear(self) -> None:
        """Leave no set in force."""
        if self.root.exists():
            (self.root / _CURRENT).unlink(missing_ok=True)
            _sync(self.root)
            self.clean_up()

    def clean_up(self) -> None:
        """Remove what a crash left, and the sets that are no longer in force."""
        if not self.root.exists():
            return
        current = self.current()
        for path in list(self.root.iterdir()):
            if path.name != _CURRENT and (current is None or path != current.path):
                discard(path)


def discard(path: Path) -> None:
    """Remove a file or a folder with all in it. A link is removed, not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def check_tree(root: Path) -> None:
    """Checks that a set has only files and folders, and not too many. Raises :class:`BadSet`."""
    files = size = 0
    for entry in entries(root):
        mode = entry.stat(follow_symlinks=False)
        if not (stat.S_ISREG(mode.st_mode) or stat.S_ISDIR(mode.st_mode)):
            raise BadSet(f"{os.path.relpath(entry.path, root)} is neither a file nor a folder")
        files, size = files + 1, size + mode.st_size
        if files > MAX_FILES:
            raise BadSet(f"The plugins have more than {MAX_FILES} files")
        if size > MAX_BYTES:
            raise BadSet(f"The plugins take more than {MAX_BYTES} bytes")


def size_of(root: Path) -> int:
    """The number of bytes below, as far as it can be known while another process writes there."""
    size = 0
    for entry in entries(root):
        try:
            size += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue  # it was deleted meanwhile
    return size


def entries(root: Path) -> Iterator[os.DirEntry[str]]:
    """All entries below ``root``; links are listed and not followed. A folder that was deleted meanwhile is empty."""
    folders = [str(root)]
    while folders:
        try:
            found = list(os.scandir(folders.pop()))
        except OSError:
            continue
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            yield entry


def _make_durable(root: Path) -> None:
    for entry in entries(root):
        _sync(Path(entry.path))
    _sync(root)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
