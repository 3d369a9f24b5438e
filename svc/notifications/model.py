"""The records of notifications. All frozen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from svc.clock import HOUR_MS, SECOND_MS, Millis

Words = Literal["all", "sender", "none"]
"""How much a notification says: sender, subject and the beginning of the text; sender and subject; only that there is
mail."""

KEPT_THERE_S: Final = 4 * 3_600
"""How long a push service keeps a push for a browser that is off (``TTL``), at most."""

KEEP_MS: Final = HOUR_MS
"""How long a row of the queue is kept. An event older than some minutes is never notified, so nothing can be notified
twice."""

DAY_MINUTES: Final = 24 * 60


@dataclass(frozen=True, kw_only=True)
class Quiet:
    """Hours without notifications: minutes of the day in ``time_zone``. They may go past midnight."""

    time_zone: str
    begin: int
    end: int

    def holds_at(self, now: Millis) -> bool:
        here = datetime.fromtimestamp(now / SECOND_MS, ZoneInfo(self.time_zone))
        minute = here.hour * 60 + here.minute
        if self.begin <= self.end:
            return self.begin <= minute < self.end
        return minute >= self.begin or minute < self.end

    def begins_in_s(self, now: Millis) -> int | None:
        """How long it is until they begin; ``None`` if there are none."""
        if self.begin == self.end:
            return None
        zone = ZoneInfo(self.time_zone)
        here = datetime.fromtimestamp(now / SECOND_MS, zone)
        begin = here.replace(hour=self.begin // 60, minute=self.begin % 60, second=0, microsecond=0)
        begin = begin if begin > here else begin + timedelta(days=1)
        return max(0, int(begin.timestamp() - here.timestamp()))


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """One person's preferences. ``account_ids``: the accounts whose mail they want to be notified of."""

    words: Words = "all"
    quiet: Quiet | None = None
    account_ids: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Browser:
    """A browser that receives pushes, as it registered: its address at the maker's push service, and two keys."""

    id: str
    user_id: str
    email: str
    """The person's address."""
    device_id: str
    endpoint: str
    public_key: bytes
    secret: bytes
    created_at: Millis
    problem: str | None


@dataclass(frozen=True, kw_only=True)
class Push:
    """One queued message for one browser. ``payload`` is JSON."""

    browser_id: str
    message_id: str
    thread_id: str
    account_id: str
    payload: bytes
    created_at: Millis
    attempts: int
