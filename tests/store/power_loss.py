"""What a power loss would leave of a directory tree, as its program's syncs have it.

Worst case: of what was written since the last sync anything may be lost, each name and each file on its own. So a file
survives for sure when its bytes were synced as they are, its name was there when its directory was synced, and its
directory's name survives in turn.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from svc.store import syncing


class PowerLoss:
    """Watches the syncs of this process below ``root``."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.syncs = 0
        self._root = root
        self._names: dict[Path, dict[str, int]] = {}
        self._contents: dict[int, bytes] = {}
        fsync = os.fsync

        def synced(descriptor: int) -> None:
            fsync(descriptor)
            self._note(Path(f"/proc/self/fd/{descriptor}").readlink())

        def all_synced(descriptor: int) -> None:
            for path in (root, *root.rglob("*")):
                self._note(path)

        monkeypatch.setattr(os, "fsync", synced)
        monkeypatch.setattr(syncing, "sync_file_system", all_synced)

    def survives(self, path: Path) -> bool:
        """Whether the file would be there, whole, if the power went now."""
        if not path.exists() or self._contents.get(path.stat().st_ino) != path.read_bytes():
            return False
        above = [path, *path.parents][: len(path.relative_to(self._root).parts)]
        return all(self._names.get(one.parent, {}).get(one.name) == one.stat().st_ino for one in above)

    def survives_moving(self, before: Path, after: Path) -> bool:
        """Of a file that is renamed: a file system does all of a renaming or nothing, so it counts where it was, too,
        until that directory was synced without it."""
        if self.survives(before) or self.survives(after):
            return True
        return after.exists() and self._names.get(before.parent, {}).get(before.name) == after.stat().st_ino

    def _note(self, path: Path) -> None:
        self.syncs += 1
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            self._names[path] = {entry.name: entry.inode() for entry in os.scandir(path)}
        else:
            self._contents[status.st_ino] = path.read_bytes()
