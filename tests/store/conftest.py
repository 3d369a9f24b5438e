"""Fixtures of the store's tests: a real database in a temporary directory, with its writer running."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import trio
from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from svc.clock import VirtualClock
from svc.nursery import ThreadPool
from svc.store import Blobs, Store

NOTES = Migrations("notes")


@NOTES()
def m001_notes(db: Database) -> None:
    db.executescript(
        """
        create table notes (id integer primary key, text text not null unique) strict;
        create table replies (id integer primary key, note integer not null references notes (id)) strict;
        """
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "svc.sqlite3"


@pytest.fixture
async def idle_store(path: Path, threads: ThreadPool) -> AsyncIterator[Store]:
    """Open, without a writer."""
    store = Store.open(path, clock=VirtualClock(), threads=threads, migrations=[NOTES])
    yield store
    store.close_now()


@pytest.fixture
async def store(idle_store: Store) -> AsyncIterator[Store]:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(idle_store.run_writer, started=lambda: None))
        yield idle_store
        nursery.cancel_scope.cancel()


@pytest.fixture
def blobs(tmp_path: Path, threads: ThreadPool) -> Blobs:
    return Blobs.open(tmp_path / "blobs", threads=threads)
