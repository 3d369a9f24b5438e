"""Recovery points: signed records of a moment that can be restored completely.

Theory. A point is a manifest: a position in the database's archive, and the number, bytes and digest of the blobs that
the database names there. The stored bytes themselves are signed (Ed25519). The signing key is derived from the master
key for this purpose only, so a restore can verify without that key, and an attacker who can only write the archive
can't forge a point: the public key is stored beside the points, and its fingerprint is shown with the recovery code.
This module also decides which points are kept: all of two days, then one an hour, for 14 days.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec

from svc.clock import DAY_MS, HOUR_MS, Millis, rfc3339
from svc.store import ReadTx

SIGNING: Final = b"svc recovery point signature 1"
KEEP_ALL_MS: Final = 2 * DAY_MS
KEEP_MS: Final = 14 * DAY_MS
POINTS_MAX: Final = 5_000
"""Kept at the same time; beyond that the oldest are deleted."""


class DatabaseAt(msgspec.Struct, frozen=True, rename="camel"):
    """``position``: in the archive, 16 hexadecimal digits. ``sequence``: of the newest outbox row; it only grows."""

    position: str
    sequence: int


class BlobsAt(msgspec.Struct, frozen=True):
    """``digest``: SHA-256 of all names, sorted, each with a line end."""

    count: int
    bytes: int
    digest: str


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """The manifest. ``key``: the master key's id; ``schema``: SHA-256 of the database's schema."""

    id: str
    home: str
    database: DatabaseAt
    blobs: BlobsAt
    schema: str
    key: str
    when: str = msgspec.field(name="at")

    @property
    def at(self) -> Millis:
        return round(datetime.fromisoformat(self.when).timestamp() * 1000)

    @property
    def position(self) -> int:
        return int(self.database.position, 16)


@dataclass(frozen=True)
class SignedPoint:
    """The bytes of a manifest, and their signature."""

    data: bytes
    signature: bytes

    def read(self) -> Point | None:
        try:
            return msgspec.json.decode(self.data, type=Point)
        except msgspec.DecodeError:
            return None

    def is_signed_by(self, public: bytes) -> bool:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(public).verify(self.signature, self.data)
        except (InvalidSignature, ValueError):
            return False
        return True


def sign(point: Point, seed: bytes) -> SignedPoint:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    data = msgspec.json.encode(point)
    return SignedPoint(data, Ed25519PrivateKey.from_private_bytes(seed).sign(data))


def public_of(seed: bytes) -> bytes:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    public = Ed25519PrivateKey.from_private_bytes(seed).public_key()
    return public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def fingerprint(public: bytes) -> str:
    """The fingerprint that a person compares: 24 digits in groups of four."""
    digits = hashlib.sha256(public).hexdigest()[:24]
    return "-".join(digits[start : start + 4] for start in range(0, 24, 4))


def digest_of(names: Iterable[str]) -> str:
    found = hashlib.sha256()
    for name in sorted(names):
        found.update(f"{name}\n".encode())
    return found.hexdigest()


def schema_of(tx: ReadTx) -> str:
    """The schema's digest, without the archiver's own tables."""
    rows = tx.all(
        "select sql from sqlite_schema where sql is not null and name not like '\\_litestream%' escape '\\'"
        " order by type, name"
    )
    return hashlib.sha256("\n".join(sql for (sql,) in rows).encode()).hexdigest()


def surplus(points: Sequence[Point], *, now: Millis) -> list[str]:
    """The ids of points that need not be kept. The newest point and the newest of each hour are always kept."""
    kept = 0
    hours: set[int] = set()
    gone: list[str] = []
    for place, point in enumerate(sorted(points, key=lambda one: one.at, reverse=True)):
        hour, age = point.at // HOUR_MS, now - point.at
        wanted = age <= KEEP_MS and (age <= KEEP_ALL_MS or hour not in hours) and kept < POINTS_MAX
        if place == 0 or wanted:
            hours.add(hour)
            kept += 1
        else:
            gone.append(point.id)
    return gone


def point_of(
    *, point_id: str, home: str, at: Millis, position: int, sequence: int, blobs: BlobsAt, schema: str, key: str
) -> Point:
    database = DatabaseAt(f"{position:016x}", sequence)
    return Point(id=point_id, home=home, when=rfc3339(at), database=database, blobs=blobs, schema=schema, key=key)
