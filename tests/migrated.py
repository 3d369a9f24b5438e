"""A database with this version's schema, made once a process: to run every migration anew costs most of a boot.

The migrations themselves run in tests/store, in tests/test_old_home.py and in every journey.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlite_utils.migrations import Migrations

from svc.app import FEATURES
from svc.clock import WallClock
from svc.nursery import ThreadPool
from svc.store import Store


def lay_database(path: Path, sets: Sequence[Migrations] | None = None) -> None:
    """Put it at ``path``, where nothing is yet. What is there stays: a home is opened more than once. ``sets``: instead
    of those of all features."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        wanted = [feature.migrations for feature in FEATURES if feature.migrations] if sets is None else sets
        path.write_bytes(_migrated(tuple(wanted)))


@cache
def _migrated(sets: tuple[Migrations, ...]) -> bytes:
    with TemporaryDirectory() as directory:
        path = Path(directory) / "svc.sqlite3"
        Store.open(path, clock=WallClock(), threads=ThreadPool(limit=1, name="schema"), migrations=sets).close_now()
        return path.read_bytes()
