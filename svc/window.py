"""A rate limit: an exact sliding window for each key, in bounded memory. Pure, except for the clock.

Only admitted attempts count. When the table is full, the key that was unused longest is dropped; a full table does not
switch the limit off.
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
        """Count one more of ``key``. Beyond the limit: raise 429 with ``Retry-After`` and the sentence ``refusal``."""
        self.check(key, refusal=refusal)
        self.count(key)

    def check(self, key: str, *, refusal: str) -> None:
        """Raise as :meth:`admit` does if the limit is reached, but count nothing."""
        times = self._recent(key)
        if len(times) >= self.limit:
            wait_s = max(1, math.ceil(times[0] + self._window_s - trio.current_time()))
            raise Refusal(refusal, code="rate_limited", headers={"Retry-After": str(wait_s)})

    def count(self, key: str) -> None:
        """Count one more of ``key`` without a check. Beyond the limit nothing more is stored."""
        times = self._admitted[key] = self._recent(key)
        self._admitted.move_to_end(key)
        if len(times) < self.limit:
            times.append(trio.current_time())
        while len(self._admitted) > self._max_keys:
            self._admitted.popitem(last=False)

    def _recent(self, key: str) -> array[float]:
        times = self._admitted.get(key)
        if times is None:
            return array("d")
        oldest = trio.current_time() - self._window_s
        while times and times[0] <= oldest:
            del times[0]
        return times
