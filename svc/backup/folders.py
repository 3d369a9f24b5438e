"""Folders that come and go. Blocks."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from glob import escape as glob_escaped
from pathlib import Path
from typing import Final

from svc import store
from svc.clock import SECOND_MS, Millis

RESTORED: Final = "-restored-"
_MAKING: Final = ".restoring-"


def forget_folder(path: Path) -> None:
    """Remove it with all there is in it, if it is there."""
    shutil.rmtree(path, ignore_errors=True)


@contextmanager
def scratch_for(into: Path) -> Iterator[Path]:
    """A hidden folder beside ``into``, in which it is made, and which is gone afterwards unless it was renamed.

    It is locked as long as its maker lives. What one that was killed has left is removed by the next.
    """
    forget_abandoned(into.parent, into.name)
    scratch = into.parent / f".{into.name}{_MAKING}{secrets.token_hex(4)}"
    scratch.mkdir(mode=0o700)
    descriptor = os.open(scratch, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield scratch
    finally:
        forget_folder(scratch)
        os.close(descriptor)


def forget_abandoned(parent: Path, name: str) -> None:
    """Remove what was to become a folder whose name begins so, and whose maker is gone."""
    store.forget_abandoned(parent.glob(f".{glob_escaped(name)}*{_MAKING}*"))


def forget_halves(archive: Path) -> None:
    """In a folder that is the archive: of base backups whose sender was killed. None is being sent."""
    for left in (archive / "db" / "ltx" / "9").glob("*.tmp"):
        with suppress(OSError):  # it is not ours to remove, and harms nobody
            left.unlink()


def restored_beside(home: Path, *, now: Millis) -> Path:
    """A name that is free, beside the home, for a restored one."""
    stamp = datetime.fromtimestamp(now // SECOND_MS, tz=UTC).strftime("%Y%m%d-%H%M%S")
    return home.with_name(f"{home.name}{RESTORED}{stamp}")
