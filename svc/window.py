"""How often one may knock: an exact sliding window for each key, in bounded memory. Pure but for the clock.

Only what was admitted counts. When the table is full the key that was longest away is forgotten; nobody is admitted for
lack of room.
"""

from __future__ import annotations

import math
from array import array
from collections import OrderedDict

import trio

from svc.errors import Refusal


class Windows:
    """At most ``limit`` admissions of one key in any ``window_s`` seconds."""

    def __init__(self, *, limit: int, window_s: float, max_keys: int) -> None:
        self.limit = limit
        self._window_s = window_s
        self._max_keys = max_keys
        self._admitted: OrderedDict[str, array[float]] = OrderedDict()

    def admit(self, key: str, *, refusal: str) -> None:
        """Count one more of ``key``, or raise 429 with ``Retry-After`` and the sentence ``refusal``."""
        now = trio.current_time()
        times = self._admitted.pop(key, array("d"))
        while times and times[0] <= now - self._window_s:
            del times[0]
        self._admitted[key] = times
        while len(self._admitted) > self._max_keys:
            self._admitted.popitem(last=False)
        if len(times) >= self.limit:
            wait_s = max(1, math.ceil(times[0] + self._window_s - now))
            raise Refusal(refusal, code="rate_limited", headers={"Retry-After": str(wait_s)})
        times.append(now)
