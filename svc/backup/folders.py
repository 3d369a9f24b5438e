"""Temporary folders. Blocks."""

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
    """Remove a folder with all its content, if it exists."""
    shutil.rmtree(path, ignore_errors=True)


@contextmanager
def scratch_for(into: Path) -> Iterator[Path]:
    """A hidden folder beside ``into``, where the new folder is made. It is removed at the end unless it was renamed.

    It is locked as long as its process lives. The next call removes what a killed process left.
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
    """Remove unfinished folders whose name begins so, and whose process has ended."""
    store.forget_abandoned(parent.glob(f".{glob_escaped(name)}*{_MAKING}*"))


def forget_halves(archive: Path) -> None:
    """In a folder that is the archive: remove parts of base backups whose sender was killed. None may be being sent."""
    for left in (archive / "db" / "ltx" / "9").glob("*.tmp"):
        with suppress(OSError):  # we may not remove it, and it does no harm
            left.unlink()


def restored_beside(home: Path, *, now: Millis) -> Path:
    """A free name, beside the home, for a restored one."""
    stamp = datetime.fromtimestamp(now // SECOND_MS, tz=UTC).strftime("%Y%m%d-%H%M%S")
    return home.with_name(f"{home.name}{RESTORED}{stamp}")
