"""A transaction on a new database in memory, for tests that need no store, no loop and no time that passes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from svc.app import FEATURES
from svc.clock import Millis
from svc.store import Tx
from svc.store.migrate import migrate
from svc.store.migrations import STORE_MIGRATIONS

NOON: Millis = 1_800_000_000_000


def bare_tx() -> Tx:
    """Its ``now`` may be set. It has the tables of all features, and is never committed."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(_empty_database())
    connection.execute("pragma foreign_keys = on")
    return Tx(connection, now=NOON)


@contextmanager
def undone(tx: Tx) -> Iterator[None]:
    """What happens in here did not happen."""
    now = tx.now
    tx.run("savepoint attempt")
    try:
        yield
    finally:
        tx.run("rollback to attempt")
        tx.run("release attempt")
        tx.now = now


@cache
def _empty_database() -> bytes:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, (STORE_MIGRATIONS, *(feature.migrations for feature in FEATURES if feature.migrations)))
    return connection.serialize()
