"""Watches for changed files, with inotify: waits on a descriptor that becomes readable when something has changed.

Only *that* something changed is used, never what: the caller looks through the folder. Without inotify (another system,
or its limit of watches is reached) the folder is looked through at intervals.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

import trio

LOOK_EVERY_S: Final = 30.0
"""The interval without inotify."""
SETTLE_S: Final = 0.3
"""The pause after a change: an editor that saves makes several changes at once."""
_READ_BYTES: Final = 64 * 1024
_CLOSE_WRITE, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x8, 0x40, 0x80, 0x100, 0x200
_ONLY_FOLDERS: Final = 0x01000000
_MASK: Final = _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _ONLY_FOLDERS


class Watch:
    """One inotify descriptor for all folders of a tree."""

    def __init__(self) -> None:
        self._descriptor = -1
        self._libc = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "linux":
            self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)

    @property
    def tells(self) -> bool:
        return self._descriptor >= 0

    def add(self, folders: Iterable[str]) -> None:
        """Watches these folders, too; those that are already watched stay so. Blocks."""
        for folder in folders:
            if not self.tells:
                return
            if self._libc.inotify_add_watch(self._descriptor, os.fsencode(folder), _MASK) < 0:
                if ctypes.get_errno() in {errno.ENOENT, errno.ENOTDIR, errno.EACCES}:
                    continue
                self.close()

    async def changed(self) -> None:
        """Returns soon after something changed, or may have changed."""
        if not self.tells:
            await trio.sleep(LOOK_EVERY_S)
            return
        await trio.lowlevel.wait_readable(self._descriptor)
        await trio.sleep(SETTLE_S)
        with suppress(BlockingIOError):
            while os.read(self._descriptor, _READ_BYTES):
                pass

    def close(self) -> None:
        if self.tells:
            os.close(self._descriptor)
            self._descriptor = -1
