"""Growing pauses between attempts: exponential, capped, and random, so that many that failed together do not retry
together.

Owns only the arithmetic; it never sleeps. :class:`Backoff` counts the failures of a task in memory. :class:`Retries` is
for rows that store the number of their attempts.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0


class Backoff:
    """Each pause is drawn from 0 up to a ceiling that doubles from ``first_s`` to ``cap_s``."""

    def __init__(self, *, rng: random.Random, first_s: float = FIRST_PAUSE_S, cap_s: float = LONGEST_PAUSE_S) -> None:
        if not 0 < first_s <= cap_s:
            raise ValueError(f"a backoff needs 0 < first_s <= cap_s, not {first_s} and {cap_s}")
        self._rng = rng
        self._first_s = first_s
        self._cap_s = cap_s
        self._ceiling_s = first_s

    def next_s(self) -> float:
        """The seconds to wait now. The next pause may be twice as long."""
        pause_s = self._rng.uniform(0.0, self._ceiling_s)
        self._ceiling_s = min(self._ceiling_s * 2, self._cap_s)
        return pause_s

    def reset(self) -> None:
        """After a success: the next failure starts with a short pause."""
        self._ceiling_s = self._first_s


@dataclass(frozen=True, kw_only=True)
class Retries:
    """Each pause is at most twice as long as the one before, up to ``cap_s``, and at least half of its ceiling."""

    first_s: float
    cap_s: float

    def pause_s(self, failures: int, rng: random.Random | None = None) -> float:
        """The seconds to wait after this many failures in a row, the current one included. Without ``rng``: the
        ceiling.
        """
        ceiling_s = min(self.first_s * 2.0 ** min(max(failures - 1, 0), _MAX_DOUBLINGS), self.cap_s)
        return ceiling_s if rng is None else rng.uniform(ceiling_s / 2, ceiling_s)


_MAX_DOUBLINGS: Final = 64
"""Beyond it the pause is at its cap anyway, and the power would be too large for a float."""
