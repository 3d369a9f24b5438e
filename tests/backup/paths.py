"""Paths of files that need not be there."""

from __future__ import annotations

from pathlib import Path
from typing import Final, TypedDict


class Paths(TypedDict):
    program: Path
    database: Path
    ledger: Path


PATHS: Final[Paths] = {"program": Path("/bin/archiver"), "database": Path("/h/db"), "ledger": Path("/h/ledger")}
