"""Two separate questions: what time it is, and how long something lasts.

Everything that *waits* uses Trio's clock, which stops while a laptop sleeps. Everything that asks *what time it is*
asks a :class:`Clock`: the system clock in production, a time derived from Trio's clock in tests, so that a
``MockClock`` moves both. Instants are whole milliseconds since the epoch (``Millis``) everywhere except on the wire,
which has RFC 3339.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Protocol

Millis = int

SECOND_MS: Final = 1_000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS

_TEST_EPOCH_MS: Final = 1_793_088_000_000  # 2026-10-27T08:00:00Z, an ordinary Tuesday


class Clock(Protocol):
    """Gives the wall time."""

    def now(self) -> Millis:
        """Milliseconds since 1970-01-01T00:00:00Z."""
        ...


class WallClock:
    """The system clock. It may jump forward or back; never use it to measure a duration."""

    def now(self) -> Millis:
        return time.time_ns() // 1_000_000


class VirtualClock:
    """Wall time that follows Trio's clock, so that a test's ``MockClock`` moves it. Ask it inside ``trio.run`` only."""

    def __init__(self, *, epoch_ms: Millis = _TEST_EPOCH_MS) -> None:
        self._epoch_ms = epoch_ms
        self._start_s: float | None = None
        self.offset_ms = 0  # a test makes the wall jump by changing this

    def now(self) -> Millis:
        import trio  # late: the parsers' worker processes use this module's constants, and start quicker without it

        current = trio.current_time()
        if self._start_s is None:
            self._start_s = current
        return self._epoch_ms + self.offset_ms + round((current - self._start_s) * 1_000)


@lru_cache(maxsize=1_024)  # lists format the same few instants again and again
def rfc3339(instant: Millis) -> str:
    """``2026-11-21T08:00:00.000Z``: UTC, always with milliseconds."""
    seconds, milliseconds = divmod(instant, SECOND_MS)
    return f"{datetime.fromtimestamp(seconds, tz=UTC).isoformat()[:19]}.{milliseconds:03d}Z"


def rfc3339_or_none(instant: Millis | None) -> str | None:
    return None if instant is None else rfc3339(instant)
