"""Counts the requests and answers since the start, by the row that answered: for ``/metrics``.

A row's path has the names of its parameters, not their values; all requests without a row share one more path. So the
number of paths is bounded by the rows of the service, and no user data is in it.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from svc.durations import Durations

NO_ROW: Final = "none"


class Traffic:
    """``answers`` by path and status; ``durations`` by path, until an answer begins to be sent; ``sockets`` open
    now."""

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, int]] = Counter()
        self.durations: dict[str, Durations] = {}
        self.sockets: Counter[str] = Counter()

    def answered(self, path: str, status: int, took_s: float) -> None:
        self.answers[path, status] += 1
        durations = self.durations.get(path)
        if durations is None:
            durations = self.durations[path] = Durations()
        durations.add(took_s)

    def opened(self, path: str) -> None:
        """Count an open WebSocket; :meth:`closed` follows."""
        self.sockets[path] += 1

    def closed(self, path: str) -> None:
        self.sockets[path] -= 1
