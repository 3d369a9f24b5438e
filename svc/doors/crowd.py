"""What the log says of connections beyond the limit of a port: a line when the first one comes, and one with their
number when it is over. Such a connection costs its client nothing, so a line for each could fill the disk.
"""

from __future__ import annotations

from typing import Final

import trio

from svc.log import Log

QUIET_S: Final = 60.0
"""The crowd is over once no connection was beyond the limit for this long. The next connection logs it."""


class Crowd:
    """The connections beyond the limit of one port."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._count = 0
        self._turned_away = 0
        self._last = 0.0

    def beyond(self, *, turned_away: bool) -> None:
        """Note a connection beyond the limit."""
        self.within()
        if self._count == 0:
            self._log.warning("http.too_many_connections", turned_away=turned_away)
        self._count += 1
        self._turned_away += turned_away
        self._last = trio.current_time()

    def within(self) -> None:
        """Note any other connection."""
        if self._count and trio.current_time() - self._last >= QUIET_S:
            self._log.warning("http.too_many_connections_over", count=self._count, turned_away=self._turned_away)
            self._count = self._turned_away = 0
