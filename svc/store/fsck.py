"""The invariants: what must always be true of a home, and the check that finds violations.

Owns :class:`Invariant` and the store's own ones. Features add theirs as rows. It only reads, from one snapshot, and
reveals no content: a problem is a sentence that names the record.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from svc.clock import rfc3339
from svc.store import damage
from svc.store.blobs import Blobs
from svc.store.damage import Damage
from svc.store.outbox import newest
from svc.store.secrets import Secrets, SecretUnreadable
from svc.store.transaction import ReadTx

MAX_PROBLEMS: Final = 100  # of one invariant: the first ones are enough to see the cause


@dataclass(frozen=True, kw_only=True)
class Invariant:
    """``check`` yields a sentence for each violation; or, with ``yields="blobs"``, the digests that must be stored."""

    name: str
    check: Callable[[ReadTx], Iterable[str]]
    yields: Literal["problems", "blobs"] = "problems"


def run_fsck(
    tx: ReadTx,
    *,
    invariants: Sequence[Invariant],
    blobs: Blobs,
    secrets: Secrets | None,
    deep: bool = False,
) -> list[str]:
    """Every violation of the features' ``invariants`` and the store's own, as ``name: problem``.

    ``deep`` also reads every referenced blob and compares its hash. Without ``secrets`` (no key at hand) they are not
    decrypted. Run it as a query: ``await store.read(run_fsck, …)``.
    """
    problems: list[str] = []
    known = damage.recorded(tx)
    for invariant in (*_own_invariants(secrets), *invariants):
        problems += islice(
            (f"{invariant.name}: {problem}" for problem in _found(tx, invariant, blobs, deep, known)), MAX_PROBLEMS
        )
    return problems


def missing_triggers(tx: ReadTx, names: Iterable[str]) -> list[str]:
    """Those of ``names`` that do not exist: a feature that rebuilds a table drops the triggers of other features with
    it."""
    there = {str(name) for (name,) in tx.all("select name from sqlite_schema where type = 'trigger'")}
    return [name for name in names if name not in there]


def quick_problem(tx: ReadTx) -> str | None:
    """The first problem that a check of every page of the database finds; ``None`` if there is none. Takes as long as
    reading the file."""
    try:
        verdict = tx.value("pragma quick_check(1)")
    except sqlite3.DatabaseError as error:
        return str(error)
    return None if verdict == "ok" else " ".join(str(verdict).split())


def _found(tx: ReadTx, invariant: Invariant, blobs: Blobs, deep: bool, known: Mapping[str, Damage]) -> Iterator[str]:
    try:
        if invariant.yields == "problems":
            yield from invariant.check(tx)
        else:
            for sha256 in invariant.check(tx):
                yield from _blob_problems(blobs, sha256, deep=deep, known=known.get(sha256))
    except sqlite3.DatabaseError as error:
        yield f"can't be checked: {error}"


def _blob_problems(blobs: Blobs, sha256: str, *, deep: bool, known: Damage | None) -> Iterator[str]:
    """A blob recorded as damaged is always read: it may have been repaired by now."""
    if blobs.size_now(sha256) is None:
        yield f"the blob {sha256} is missing{_record_of(known)}"
    elif (deep or known is not None) and not blobs.is_sound(sha256):
        yield f"the blob {sha256} is damaged{_record_of(known)}"


def _record_of(known: Damage | None) -> str:
    """What the record of damage says about it."""
    if known is None:
        return ""
    verdict = "can't be mended by itself" if known.state == "lost" else "waits to be mended"
    return f"; found {rfc3339(known.found_at)}, {verdict}{': ' if known.reason else ''}{known.reason}"


def _own_invariants(secrets: Secrets | None) -> Iterator[Invariant]:
    yield Invariant(name="database", check=_integrity)
    yield Invariant(name="foreign keys", check=_foreign_keys)
    yield Invariant(name="outbox", check=_outbox)
    yield Invariant(name="events", check=_events)
    if secrets is not None:
        yield Invariant(name="secrets", check=lambda tx: _secrets(tx, secrets))


def _integrity(tx: ReadTx) -> Iterator[str]:
    for (verdict,) in tx.each(f"pragma integrity_check({MAX_PROBLEMS})"):
        if verdict != "ok":
            yield verdict


def _foreign_keys(tx: ReadTx) -> Iterator[str]:
    for table, rowid, parent, _ in tx.each("pragma foreign_key_check"):
        yield f"row {rowid} of {table} points to no row of {parent}"


def _outbox(tx: ReadTx) -> Iterator[str]:
    highest = tx.value("select max(seq) from outbox") or 0
    if highest > newest(tx):
        yield f"row {highest} is beyond the newest sequence number {newest(tx)}"
    kept, first = tx.one("select count(*), coalesce(min(seq), 1) from outbox") or (0, 1)
    if kept and highest - first + 1 != kept:
        yield f"rows are missing between {first} and {highest}"
    for (seq,) in tx.each("select seq from outbox where not json_valid(payload)"):
        yield f"the payload of row {seq} is not JSON"


def _events(tx: ReadTx) -> Iterator[str]:
    for (seq,) in tx.each("select seq from events where not json_valid(payload)"):
        yield f"the payload of record {seq} is not JSON"


def _secrets(tx: ReadTx, secrets: Secrets) -> Iterator[str]:
    for name in secrets.names(tx):
        try:
            secrets.read(tx, name)
        except SecretUnreadable as error:
            yield str(error)
