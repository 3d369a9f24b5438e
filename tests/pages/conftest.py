"""A fresh database with three users in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from svc.files.migrations import MIGRATIONS as FILES
from svc.identity.migrations import MIGRATIONS as IDENTITY
from svc.nursery import ThreadPool
from svc.pages.migrations import MIGRATIONS
from svc.store import Store, Tx
from tests.migrated import lay_database
from tests.pages.people_and_pages import PEOPLE, Pages, name_of
from tests.recorded_log import StoppedClock

SETS: Final = (IDENTITY, MIGRATIONS, FILES)
MakePages = Callable[[], Pages]


@pytest.fixture
def make_pages(tmp_path: Path, threads: ThreadPool) -> Iterator[MakePages]:
    """Each call gives another database."""
    with ExitStack() as opened:

        def make() -> Pages:
            path = tmp_path / f"{len(list(tmp_path.iterdir()))}" / "svc.sqlite3"
            lay_database(path, SETS)
            store = Store.open(path, clock=StoppedClock(), threads=threads, migrations=SETS)
            opened.callback(store.close_now)
            store.write_now(_add_people)
            return Pages(store)

        yield make


@pytest.fixture
def pages(make_pages: MakePages) -> Pages:
    return make_pages()


def _add_people(tx: Tx) -> None:
    for who in PEOPLE:
        tx.run(
            "insert into users (id, email, name, role, created_at) values (:id, :email, :name, 'member', 0)",
            id=who.user_id,
            email=f"{name_of(who)}@example.org",
            name=name_of(who).title(),
        )
