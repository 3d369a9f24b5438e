"""Up to which moment the target has all that was committed.

A moment is taken before the archiver is asked to read all commits, and noted with the positions that it then tells. The
target has all from before that moment once it has those positions. The archiver also tells when its last exchange
ended. That time is not used: a commit that was made during the exchange may be missing there, and an exchange may be
only a part of what waits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from svc.clock import Millis

MOST: Final = 64
"""Moments that wait at the same time. Beyond: every second one is forgotten."""


@dataclass(frozen=True, kw_only=True)
class Moment:
    """``since``: the same moment by Trio's clock, because the wall clock may be set to any time. ``read``: the newest
    commit of each database that the archiver has read."""

    at: Millis
    since: float
    read: tuple[int, ...]


@dataclass
class Moments:
    """Those that wait for the target, the oldest first."""

    _waiting: list[Moment] = field(default_factory=list)

    def reached(self, now: Moment, *, sent: tuple[int, ...]) -> Moment | None:
        """Add a moment, and remove those that the target has reached. Returns the newest of the removed ones. ``sent``:
        the newest commit of each database that the target has, 0 if that is not known."""
        if self._waiting and self._waiting[-1].read == now.read:
            self._waiting.pop()
        self._waiting.append(now)
        count = sum(all(has >= read > 0 for has, read in zip(sent, one.read, strict=True)) for one in self._waiting)
        newest = self._waiting[count - 1] if count else None
        del self._waiting[:count]
        if len(self._waiting) > MOST:
            del self._waiting[1::2]
        return newest
