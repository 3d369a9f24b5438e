"""Recovery points: signed as stored, told from forged ones without the master key, and thinned out with age."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.backup.catalogue import Catalogue
from svc.backup.control import Position
from svc.backup.minting import Minting
from svc.backup.points import (
    KEEP_ALL_MS,
    KEEP_MS,
    BlobsAt,
    Point,
    SignedPoint,
    digest_of,
    point_of,
    public_of,
    sign,
    surplus,
)
from svc.backup.verifying import fault_of
from svc.clock import DAY_MS, HOUR_MS, VirtualClock
from svc.nursery import ThreadPool
from svc.store import Ledger
from tests.backup.archives import archive_of

SEED = bytes(range(32))
HOME = "home_00000000000000000000"


def point(at: int, name: str = "rp_1") -> Point:
    blobs = BlobsAt(2, 10, digest_of(["b", "a"]))
    return point_of(point_id=name, home=HOME, at=at, position=7, sequence=3, blobs=blobs, schema="s", key="key_1")


def catalogue_with(tmp_path: Path, *points: Point, seed: bytes = SEED) -> Catalogue:
    catalogue = Catalogue(Ledger(tmp_path / "ledger.sqlite3"))
    catalogue.begin(HOME, {})
    for one in points:
        catalogue.add(sign(one, seed), one, key=public_of(seed))
    return catalogue


def test_a_point_is_listed_as_it_was_signed_and_found_whole(tmp_path: Path) -> None:
    old, new = point(1_000, "rp_1"), point(61_000, "rp_2")
    catalogue = catalogue_with(tmp_path, old, new)
    assert catalogue.points() == [new, old]
    assert [fault_of(catalogue, one) for one in catalogue.points()] == [None, None]
    manifest = msgspec.json.decode(sign(old, SEED).data)
    assert set(manifest) == {"id", "at", "home", "database", "blobs", "schema", "key"}
    assert manifest["database"]["position"] == f"{7:016x}"
    assert manifest["at"] == "1970-01-01T00:00:01.000Z"


def test_a_point_that_was_changed_or_made_up_is_told(tmp_path: Path) -> None:
    true = point(1_000)
    catalogue = catalogue_with(tmp_path, true)
    forged = msgspec.structs.replace(true, schema="other")
    catalogue.ledger.put({f"point/{true.id}": msgspec.json.encode(forged)})
    assert "manifest was changed" in (fault_of(catalogue, forged) or "")
    by_another = sign(forged, bytes(32))
    catalogue.ledger.put({f"point/{true.id}": by_another.data, f"signature/{true.id}": by_another.signature})
    assert "manifest was changed" in (fault_of(catalogue, forged) or "")
    assert "not known" in (fault_of(catalogue, msgspec.structs.replace(forged, key="key_2")) or "")
    assert SignedPoint(b"{", b"").read() is None


@pytest.mark.thorough
@given(ages=st.lists(st.integers(0, 30 * DAY_MS), unique=True, max_size=60))
def test_what_is_kept_is_all_of_two_days_then_one_an_hour_and_always_the_newest(ages: list[int]) -> None:
    now = 40 * DAY_MS
    points = [point(now - age, f"rp_{age}") for age in ages]
    gone = set(surplus(points, now=now))
    kept = [one for one in points if one.id not in gone]
    assert bool(kept) == bool(points)
    if not points:
        return
    newest = max(points, key=lambda one: one.at)
    assert newest in kept
    assert all(one in kept for one in points if now - one.at <= KEEP_ALL_MS)
    assert all(one is newest or now - one.at <= KEEP_MS for one in kept)
    for hour in {one.at // HOUR_MS for one in points if now - one.at <= KEEP_MS}:
        assert max((one for one in points if one.at // HOUR_MS == hour), key=lambda one: one.at) in kept
    old_hours = [one.at // HOUR_MS for one in kept if now - one.at > KEEP_ALL_MS]
    assert len(old_hours) == len(set(old_hours))


async def test_the_replica_keeps_what_the_points_of_an_archive_name_that_was_left(
    tmp_path: Path, wall: VirtualClock, threads: ThreadPool
) -> None:
    archive, at, kept = archive_of(tmp_path, wall), wall.now(), list[int]()
    archive.catalogue.begin(HOME, {})
    archive.catalogue.add(sign(point(at - HOUR_MS), SEED), point(at - HOUR_MS), key=b"k")
    archive.catalogue.change_line({}, now=at)

    class Stood:
        """A store, an archiver and a master key, of a home in which all is where it should be."""

        txid = 1

        async def position(self, *, wait_s: float | None = None) -> Position:
            return Position(txid=self.txid, replicated_txid=self.txid)

        async def at_one_moment(self, ask: Callable[[], Awaitable[Position]], query: object) -> object:
            new = partial(point, wall.now(), f"rp_{self.txid}")
            return await ask(), (True, 0, lambda position: new())

        async def write(self, statement: object, oldest: int) -> None:
            kept.append(oldest)

        def derived(self, purpose: bytes) -> tuple[str, bytes]:
            return "key_1", SEED

    stood: Any = Stood()
    archive.store = stood
    rest: Any = {"beyond": stood, "master_key": stood, "references": (), "blobs": None}
    minting = Minting(archive=archive, archiver=stood, threads=threads, home=HOME, **rest)
    for _ in range(2):
        assert await minting.round() is not None
        stood.txid += 1
        wall.offset_ms += KEEP_MS + 1
    assert kept == [at - HOUR_MS, at + KEEP_MS + 1]
