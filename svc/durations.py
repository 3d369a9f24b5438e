"""A histogram of durations: adding one costs a single look-up, and it never grows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

BOUNDS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Durations:
    """``bounds_s`` are the upper ends of the buckets, smallest first. One more bucket holds all above the last."""

    __slots__ = ("_bounds_s", "_counts", "total_s")

    def __init__(self, bounds_s: Sequence[float] = BOUNDS_S) -> None:
        self._bounds_s = tuple(bounds_s)
        self._counts = [0] * (len(self._bounds_s) + 1)
        self.total_s = 0.0

    def add(self, took_s: float) -> None:
        self._counts[bisect_left(self._bounds_s, took_s)] += 1
        self.total_s += took_s

    @property
    def count(self) -> int:
        return sum(self._counts)

    def upto(self) -> Iterator[tuple[float, int]]:
        """For each bucket the number of durations up to its upper end. The last end is infinite."""
        found = 0
        for bound_s, count in zip((*self._bounds_s, float("inf")), self._counts, strict=True):
            found += count
            yield bound_s, found
