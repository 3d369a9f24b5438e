"""A rate limiter for one account: the provider's quota, as an exact sliding window of sixty seconds.

Owns the window and its two queues. Each grant is remembered for sixty seconds, so no sixty seconds ever hold more than
the quota; a token bucket could let two quotas pass around a refill. A share is reserved for calls that a user
waits for (``urgent``), and the units that the first of these still needs are kept free for it. It never sends anything
and knows only Trio's clock. It does not know when a call reaches the provider; if that is too early, a 429 says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import trio

WINDOW_S: Final = 60.0
UNITS_PER_MINUTE: Final = 6_000
RESERVED_SHARE: Final = 0.1
YIELD_S: Final = 1.0

COST_UNITS: Final = MappingProxyType(
    {
        "drafts.create": 10,
        "drafts.delete": 10,
        "drafts.list": 5,
        "drafts.update": 15,
        "getProfile": 1,
        "history.list": 2,
        "labels.create": 5,
        "labels.list": 1,
        "messages.batchModify": 50,
        "messages.get": 20,
        "messages.list": 5,
        "messages.modify": 5,
        "messages.send": 100,
        "settings.sendAs.list": 1,
    }
)
"""The cost of each call in quota units, by the Gmail API's method names (its usage limits for new projects)."""


@dataclass(frozen=True, slots=True)
class _Grant:
    expires_s: float  # on Trio's clock
    units: int
    urgent: bool


class QuotaLimiter:
    """The limiter of one account. Urgent and background calls each have a queue, first in, first out."""

    def __init__(self, *, units_per_minute: int = UNITS_PER_MINUTE, reserved_share: float = RESERVED_SHARE) -> None:
        if units_per_minute < 1 or not 0 <= reserved_share < 1:
            raise ValueError(f"no quota: {units_per_minute} units a minute, {reserved_share} of it reserved")
        self.units_per_minute = units_per_minute
        self._background_limit = units_per_minute - int(units_per_minute * reserved_share)
        self._grants: deque[_Grant] = deque()
        self._urgent_turn = trio.Lock()
        self._background_turn = trio.Lock()
        self._awaited_units = 0  # that the first waiting urgent call needs
        self._paused_until_s = 0.0

    async def spend(self, units: int, *, urgent: bool = False) -> None:
        """Returns as soon as ``units`` fit into the window. If it is cancelled while it waits, nothing is spent."""
        if not 0 < units <= (self.units_per_minute if urgent else self._background_limit):
            raise ValueError(f"{units} units can never be had from a quota of {self.units_per_minute} a minute")
        if urgent:
            await self._spend_urgent(units)
        else:
            await self._spend_in_background(units)

    def used(self) -> int:
        """Units granted in the last sixty seconds."""
        self._forget_expired()
        return _sum(self._grants)

    def free_in_background(self) -> int:
        """Units that a background call could get at once."""
        self._forget_expired()
        if self._paused_until_s > trio.current_time():
            return 0
        background = _sum(grant for grant in self._grants if not grant.urgent)
        free = self.units_per_minute - _sum(self._grants) - self._awaited_units
        return max(0, min(self._background_limit - background, free))

    def pause(self, seconds: float) -> None:
        """Grants nothing for this time: the provider sent ``Retry-After``. A longer pause that was set before stays."""
        self._paused_until_s = max(self._paused_until_s, trio.current_time() + seconds)

    async def _spend_urgent(self, units: int) -> None:
        async with self._urgent_turn:
            self._awaited_units = units
            try:
                await _until(lambda: self._urgent_ready_s(units))
                self._grant(units, urgent=True)
            finally:
                self._awaited_units = 0

    async def _spend_in_background(self, units: int) -> None:
        async with self._background_turn:
            await _until(lambda: self._background_ready_s(units))
            self._grant(units, urgent=False)

    def _urgent_ready_s(self, units: int) -> float:
        self._forget_expired()
        return max(self._paused_until_s, _ready_s(self._grants, units, limit=self.units_per_minute))

    def _background_ready_s(self, units: int) -> float:
        self._forget_expired()
        background = [grant for grant in self._grants if not grant.urgent]
        return max(
            self._paused_until_s,
            _ready_s(self._grants, units + self._awaited_units, limit=self.units_per_minute),
            _ready_s(background, units, limit=self._background_limit),
        )

    def _grant(self, units: int, *, urgent: bool) -> None:
        self._grants.append(_Grant(trio.current_time() + WINDOW_S, units, urgent))

    def _forget_expired(self) -> None:
        now_s = trio.current_time()
        while self._grants and self._grants[0].expires_s <= now_s:
            self._grants.popleft()


async def _until(ready_s: Callable[[], float]) -> None:
    """Sleeps until the time that ``ready_s`` returns. Asks again after each sleep, since that time may have moved."""
    while True:
        instant_s = ready_s()
        if instant_s <= trio.current_time():
            return
        await trio.sleep_until(instant_s)


def _ready_s(grants: Iterable[_Grant], units: int, *, limit: int) -> float:
    """The time on Trio's clock when enough of ``grants`` have expired for ``units`` to fit; 0 if they fit at once."""
    excess = _sum(grants) + units - limit
    ready_s = 0.0
    for grant in grants:
        if excess <= 0:
            break
        excess -= grant.units
        ready_s = grant.expires_s
    if excess > 0:  # only while an urgent call needs nearly the whole quota: let it go first
        ready_s = max(ready_s, trio.current_time() + YIELD_S)
    return ready_s


def _sum(grants: Iterable[_Grant]) -> int:
    return sum(grant.units for grant in grants)
