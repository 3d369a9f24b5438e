"""Cleans up unfinished files and folders: each is written under a temporary name and locked while its process lives.
Blocks.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def forget_abandoned(begun: Iterable[Path]) -> None:
    """Remove those whose process was killed. One that is still locked stays, and so does one that we may not open or
    remove."""
    for path in begun:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        try:
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                forget(path)
        finally:
            os.close(descriptor)


def forget(path: Path) -> None:
    """Remove a file, or a folder with all its content, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
