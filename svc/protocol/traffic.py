"""What was asked and answered since the start, by the rows that answered: for ``/metrics``.

A row's path has the names of its parameters, not their values; what no row answers is one path more. So it is bounded
by the rows of the service, and nothing of anybody's is in it.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from svc.durations import Durations

NO_ROW: Final = "none"


class Traffic:
    """``answers`` by path and status; ``durations`` by path, until an answer begins to leave; ``sockets`` now open."""

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
        """A WebSocket; :meth:`closed` follows."""
        self.sockets[path] += 1

    def closed(self, path: str) -> None:
        self.sockets[path] -= 1
