"""An archive's state without an archiver, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from svc.backup.archive import Archive
from svc.backup.catalogue import Catalogue
from svc.backup.target import Target, place_of
from svc.clock import Clock
from svc.store import Ledger, Store
from tests.recorded_log import RecordedLog, StoppedClock


def archive_of(directory: Path, clock: Clock) -> Archive:
    """It has no store, so it notifies nobody."""
    return Archive(
        target=Target(place=place_of("file", str(directory / "archive"))),
        catalogue=Catalogue(Ledger(directory / "ledger.sqlite3")),
        store=cast(Store, None),
        clock=clock,
        log=RecordedLog(StoppedClock()),
    )
