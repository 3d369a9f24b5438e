"""Runs a step at fixed intervals.

Owns the fixed schedule of :func:`every`. It never catches what a step raises: the supervisor does that.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import NoReturn

import trio


async def every(interval_s: float, step: Callable[[], Awaitable[object]], *, at_once: bool = True) -> NoReturn:
    """Await ``step`` now (or after the first interval) and then at each multiple of ``interval_s``, for ever.

    Steps never overlap. Steps that a long step overran are dropped, not made up for, so no burst follows.
    """
    if not 0 < interval_s < math.inf:
        raise ValueError(f"an interval is a positive number of seconds, not {interval_s}")
    origin = trio.current_time()
    turn = 0 if at_once else 1
    while True:
        await trio.sleep_until(origin + turn * interval_s)  # from the origin: rounding errors never add up
        await step()
        passed = math.floor((trio.current_time() - origin) / interval_s)
        turn = max(turn, passed) + 1
