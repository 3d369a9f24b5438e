"""The speed of a full sync, measured while it runs: the rate of its last minutes, in memory."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

import trio

WINDOW_S: Final = 300.0
"""Long enough to smooth out the minutes of the quota, short enough to follow a network that became slower."""


@dataclass(kw_only=True)
class SyncRate:
    """Uses Trio's clock, so the time while a laptop sleeps does not count."""

    _pages: deque[tuple[float, int]] = field(default_factory=deque)  # when each page was done, and its messages

    def begin(self) -> None:
        """Starts the measurement, when a full sync starts or goes on. A pause before that does not count."""
        self._pages.clear()
        self._pages.append((trio.current_time(), 0))

    def done(self, messages: int) -> None:
        now_s = trio.current_time()
        self._pages.append((now_s, messages))
        while len(self._pages) > 2 and self._pages[0][0] < now_s - WINDOW_S:
            self._pages.popleft()

    def seconds_for(self, messages: int) -> int | None:
        """The estimated seconds for ``messages``; ``None`` until the first page is done. Grows while the full sync
        stalls."""
        if len(self._pages) < 2:
            return None
        elapsed_s = trio.current_time() - self._pages[0][0]
        done = sum(count for _, count in list(self._pages)[1:])
        return round(messages * elapsed_s / done) if done else None
