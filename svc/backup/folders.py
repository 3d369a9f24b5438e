"""Folders that come and go. Blocks."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

from svc.clock import SECOND_MS, Millis


def forget_folder(path: Path) -> None:
    """Remove it with all there is in it, if it is there."""
    shutil.rmtree(path, ignore_errors=True)


def restored_beside(home: Path, *, now: Millis) -> Path:
    """A name that is free, beside the home, for a restored one."""
    stamp = datetime.fromtimestamp(now // SECOND_MS, tz=UTC).strftime("%Y%m%d-%H%M%S")
    return home.with_name(f"{home.name}-restored-{stamp}")
