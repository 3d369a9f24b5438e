"""Remembers which files were read whole and match their name (their hash), so that they need not be read again for a
while.

Theory. A file is recognised by its inode, size, and times of content and of status change. A program can set the time
of content back, but not the time of change. A change within the same tick of the file system's clock as the one before
can't be seen, so a file that changed just now is not remembered. A disk that loses bytes by itself changes no time:
after an hour the file is read again.

Owns that bounded memory. It reads no file, and is used only from the event loop.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from io import FileIO
from typing import Final

import trio

from svc.clock import WallClock

MAX_REMEMBERED: Final = 4_096
"""Files that are known to be good. Beyond: the one that was known first is read again when it is wanted."""
TRUSTED_S: Final = 3_600.0
"""How long a file that was read whole counts as good while nobody touches it. Beyond: it is read again when it is
wanted."""
SETTLED_MS: Final = 2_000
"""The coarsest clock of a file system. A file that changed less than this ago may change again unnoticed."""

Identity = tuple[int, int, int, int]


class Checked:
    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[Identity, float]] = OrderedDict()

    def identity(self, sha256: str) -> Identity | None:
        """The identity of the file that was checked, if the check is recent."""
        identity, since = self._known.get(sha256, (None, 0.0))
        if identity is not None and trio.current_time() - since < TRUSTED_S:
            return identity
        return None

    def good(self, sha256: str, identity: Identity | None) -> None:
        """Remember a file that was just checked. ``None``: it may still be changing, so nothing is remembered."""
        if identity is None:
            return
        self._known[sha256] = (identity, trio.current_time())
        self._known.move_to_end(sha256)
        if len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)

    def forget(self, sha256: str) -> None:
        """Forget the file; may be called from any thread."""
        self._known.pop(sha256, None)


def identity_of(file: FileIO) -> Identity:
    status = os.fstat(file.fileno())
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def identity_at_rest(file: FileIO, before: Identity) -> Identity | None:
    """``before``, the identity when reading began; ``None`` where the file changed since, or may have."""
    stamped_ms = max(before[2:]) / 1_000_000
    settled = stamped_ms <= WallClock().now() - SETTLED_MS  # the machine's own clock is what stamps files
    return before if settled and identity_of(file) == before else None
