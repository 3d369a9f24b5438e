"""Suggestions while an address is typed: who comes first, among few and among very many."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from svc.app import FEATURES
from svc.clock import DAY_MS, Millis
from svc.nursery import ThreadPool
from svc.people import actions, queries
from svc.people.model import Direction
from svc.people.words import typed_words
from svc.principal import UNCLAIMED, Principal
from svc.store import Store, Tx
from tests.migrated import lay_database
from tests.recorded_log import StoppedClock

MIA = "usr_mia"


@pytest.fixture
def store(tmp_path: Path, threads: ThreadPool) -> Iterator[Store]:
    migrations = [feature.migrations for feature in FEATURES if feature.migrations]
    lay_database(tmp_path / "svc.sqlite3")
    opened = Store.open(tmp_path / "svc.sqlite3", clock=StoppedClock(), threads=threads, migrations=migrations)
    opened.write_now(actions.skip_domains, domains=["example.org"])
    yield opened
    opened.close_now()


def meet(
    tx: Tx,
    name: str,
    address: str,
    *,
    at: Millis = 0,
    direction: Direction = "received",
    owner_id: str | None = MIA,
) -> None:
    actions.meet(tx, owner_id=owner_id, own=set(), name=name, address=address, at=at, direction=direction)


def suggested(store: Store, text: str, *, who: str | None = MIA, limit: int = 8) -> list[str]:
    principal = Principal(user_id=who, device_id="dev_x", is_admin=True, via="session") if who else UNCLAIMED
    found = store.read_now(queries.suggestions, principal, words=typed_words(text), limit=limit)
    return [one.address.partition("@")[0] for one in found]


def test_whom_one_writes_to_comes_first_and_then_who_wrote_lately(store: Store) -> None:
    def met(tx: Tx) -> None:
        meet(tx, "Ann A", "old@example.org", at=0)
        meet(tx, "Ann B", "lately@example.org", at=30 * DAY_MS)
        meet(tx, "Ann C", "written@example.org", at=10 * DAY_MS, direction="sent")
        meet(tx, "Bob", "bob@example.org", at=40 * DAY_MS, direction="sent")

    store.write_now(met)
    assert suggested(store, "ann") == ["written", "lately", "old"]
    assert suggested(store, "ann", limit=1) == ["written"]
    assert suggested(store, "") == ["bob", "written", "lately", "old"]
    assert suggested(store, "ann b") == ["lately"]
    assert suggested(store, "zoe") == []
    assert suggested(store, "%") == []


def test_nobody_is_suggested_who_is_somebody_elses(store: Store) -> None:
    def met(tx: Tx) -> None:
        meet(tx, "Ann", "hers@example.org")
        meet(tx, "Ann", "his@example.org", owner_id="usr_noa")
        meet(tx, "Ann", "nobodys@example.org", owner_id=None)

    store.write_now(met)
    assert suggested(store, "ann") == ["hers"]
    assert suggested(store, "ann", who="usr_noa") == ["his"]
    assert suggested(store, "ann", who=None) == ["nobodys"]  # those two are no users: nobody is signed in as them


def test_who_sees_everything_sees_each_person_once(store: Store) -> None:
    def met(tx: Tx) -> None:
        for user_id in (MIA, "usr_noa"):
            tx.run(
                "insert into users (id, email, name, role, created_at) values (:id, :id, '', 'admin', 0)", id=user_id
            )
            meet(tx, "Ann", "ann@example.org", owner_id=user_id)
        meet(tx, "Anna", "anna@example.org", owner_id="usr_noa", at=DAY_MS)

    store.write_now(met)
    assert suggested(store, "an", who=None) == ["anna", "ann"]


def test_among_very_many_the_best_are_found_and_the_rare(store: Store) -> None:
    def met(tx: Tx) -> None:
        for number in range(6_000):
            meet(tx, f"Ann Number{number}", f"p{number}@example.org", at=number)
        meet(tx, "Ann Zoe", "zoe@example.org", at=0)

    store.write_now(met)
    assert suggested(store, "a", limit=3) == ["p5999", "p5998", "p5997"]
    assert suggested(store, "ann number59", limit=2) == ["p5999", "p5998"]
    assert suggested(store, "ann zo") == ["zoe"]  # the rarest word leads, wherever they stand
    assert len(suggested(store, "num ann")) == 8


def test_many_with_one_word_who_are_all_far_down_are_still_found(store: Store) -> None:
    def met(tx: Tx) -> None:
        for number in range(queries.WALKED):
            meet(tx, "Bob", f"bob{number}@example.org", at=DAY_MS)
        for number in range(queries.DENSE + 1):
            meet(tx, "Ann", f"ann{number}@example.org", at=0)

    store.write_now(met)
    assert len(suggested(store, "ann")) == 8
