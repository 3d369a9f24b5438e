"""The queries and the state of the check: which blobs are next, and its position."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from svc.clock import Millis
from svc.store import Invariant, ReadTx, Tx, records

_KEY: Final = "blob-check"


class Round(msgspec.Struct, frozen=True):
    """A finished round: what it read, damaged blobs included."""

    began_at: Millis
    ended_at: Millis
    blobs: int
    bytes: int


class Place(msgspec.Struct, frozen=True):
    """The position of the check: the last blob it read, empty before the first one; when this round began, what it has
    read, and the previous round."""

    after: str = ""
    began_at: Millis | None = None
    blobs: int = 0
    bytes: int = 0
    last: Round | None = None


@dataclass(frozen=True, kw_only=True)
class Names:
    """The next referenced blobs, in order. ``last``: there are no more."""

    names: tuple[str, ...]
    last: bool


def names_after(tx: ReadTx, references: Sequence[Invariant], *, after: str, limit: int) -> Names:
    """Reads all references once: they have no order, and together may be larger than memory."""
    smallest: set[str] = set()
    trimmed = False
    for sha256 in _each(tx, references):
        if sha256 > after:
            smallest.add(sha256)
            if len(smallest) >= 2 * limit:
                smallest = set(heapq.nsmallest(limit, smallest))
                trimmed = True
    names = heapq.nsmallest(limit, smallest)
    return Names(names=tuple(names), last=not trimmed and len(smallest) <= limit)


def _each(tx: ReadTx, references: Sequence[Invariant]) -> Iterator[str]:
    for reference in references:
        yield from reference.check(tx)


def place(tx: ReadTx) -> Place:
    kept = records.noted(tx, _KEY)
    return Place() if kept is None else msgspec.json.decode(kept, type=Place)


def keep_place(tx: Tx, place: Place) -> None:
    records.note(tx, key=_KEY, value=msgspec.json.encode(place).decode())
