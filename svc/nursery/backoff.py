"""Growing pauses between attempts: exponential, capped, with full jitter, so that many who failed together part ways.

Owns only the arithmetic: it never sleeps.
"""

from __future__ import annotations

import random
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
        """How many seconds to wait now; the next answer may be twice as long."""
        pause_s = self._rng.uniform(0.0, self._ceiling_s)
        self._ceiling_s = min(self._ceiling_s * 2, self._cap_s)
        return pause_s

    def reset(self) -> None:
        """It works again: the next trouble starts with a short pause."""
        self._ceiling_s = self._first_s
