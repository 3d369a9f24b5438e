"""Sets of UIDs, as IMAP writes them: ``1:3,7,9:4294967295`` (RFC 3501, section 9, sequence-set).

A server can write a range of four billion UIDs in a few bytes, so a set is stored as ranges, and is listed one by one
only up to a limit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from svc.mail.providers.imap.protocol.faults import ProtocolFault

MAX_UID: Final = 0xFFFF_FFFF
MAX_RANGES: Final = 1_000_000

_RANGE: Final = re.compile(rb"(\d{1,10})(?::(\d{1,10}))?")


@dataclass(frozen=True)
class UidSet:
    """Ranges that include both ends, sorted, without overlap."""

    ranges: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, uids: Iterable[int]) -> UidSet:
        return cls(_merged((uid, uid) for uid in uids))

    @classmethod
    def read(cls, text: bytes) -> UidSet:
        """Raises :class:`ProtocolFault`."""
        parts = text.split(b",")
        if len(parts) > MAX_RANGES:
            raise ProtocolFault("named too many messages at once")
        return cls(_merged(map(_read_range, parts)))

    def __contains__(self, uid: int) -> bool:
        at = bisect_right(self.ranges, (uid, MAX_UID + 1)) - 1
        return at >= 0 and self.ranges[at][0] <= uid <= self.ranges[at][1]

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges)

    def __or__(self, other: UidSet) -> UidSet:
        return UidSet(_merged((*self.ranges, *other.ranges)))

    def __str__(self) -> str:
        return ",".join(str(first) if first == last else f"{first}:{last}" for first, last in self.ranges)

    def uids(self, *, at_most: int) -> list[int]:
        """All UIDs one by one. Raises :class:`ProtocolFault` if there are more than ``at_most``."""
        if len(self) > at_most:
            raise ProtocolFault("named more messages than there are")
        return [uid for first, last in self.ranges for uid in range(first, last + 1)]


def in_written_order(text: bytes, *, at_most: int) -> list[int]:
    """The UIDs in the order of the text. It matches the order of another set in the same answer (RFC 4315)."""
    found: list[int] = []
    for part in text.split(b","):
        first, last = _read_range(part)
        if len(found) + last - first + 1 > at_most:
            raise ProtocolFault("named more messages than there are")
        found.extend(range(first, last + 1))
    return found


def _read_range(text: bytes) -> tuple[int, int]:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise ProtocolFault("sent a set of messages that can't be read")
    first = int(found[1])
    last = first if found[2] is None else int(found[2])
    if max(first, last) > MAX_UID:
        raise ProtocolFault("sent a set of messages that can't be read")
    return min(first, last), max(first, last)


def _merged(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple(_apart(sorted(ranges)))


def _apart(ordered: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    if not ordered:
        return
    first, last = ordered[0]
    for begin, end in ordered[1:]:
        if begin <= last + 1:
            last = max(last, end)
        else:
            yield first, last
            first, last = begin, end
    yield first, last
