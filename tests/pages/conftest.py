"""A fresh database with three users in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from svc.files.migrations import MIGRATIONS as FILES
from svc.identity.migrations import MIGRATIONS as IDENTITY
from svc.nursery import ThreadPool
from svc.pages.migrations import MIGRATIONS
from svc.store import Store, Tx
from tests.pages.rig import PEOPLE, Pages, name_of
from tests.recorded_log import StoppedClock


@pytest.fixture
def pages(tmp_path: Path, threads: ThreadPool) -> Iterator[Pages]:
    store = Store.open(
        tmp_path / "svc.sqlite3", clock=StoppedClock(), threads=threads, migrations=[IDENTITY, MIGRATIONS, FILES]
    )
    store.write_now(_add_people)
    yield Pages(store)
    store.close_now()


def _add_people(tx: Tx) -> None:
    for who in PEOPLE:
        tx.run(
            "insert into users (id, email, name, role, created_at) values (:id, :email, :name, 'member', 0)",
            id=who.user_id,
            email=f"{name_of(who)}@example.org",
            name=name_of(who).title(),
        )
