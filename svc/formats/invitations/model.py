"""What an invitation says, and every bound of reading one. Records only; stored as JSON."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from svc.clock import DAY_MS, Millis
from svc.formats.person import Person

MAX_BYTES: Final = 1024 * 1024
MAX_EVENTS: Final = 20
"""Of one file: a series, and dates of it that are otherwise."""
MAX_ATTENDEES: Final = 500
MAX_TIMES: Final = 200
"""Dates of a series that are looked at for conflicts."""
HORIZON_MS: Final = 400 * DAY_MS
"""From now; what lies later is not looked at."""
MAX_TEXT_CHARS: Final = 2_000
MAX_UID_CHARS: Final = 500

Answer = Literal["accepted", "tentative", "declined"]


class Moment(msgspec.Struct, frozen=True):
    """``text``: a date, an instant in UTC, or, where the zone is not known or there is none, a time without one.
    ``at``: the instant, where it is one."""

    text: str
    at: Millis | None = None


class Attendee(msgspec.Struct, frozen=True):
    """``answer``: ``needs-action``, ``accepted``, ``tentative``, ``declined``, or another of RFC 5545, in small
    letters."""

    name: str
    address: str
    answer: str


class Invitation(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a calendar file. ``recurrence_id``: which date of a series it is about, as it stands there; empty:
    the whole. ``timezone``: the name of its zone; ``zone_known``: whether that means something. ``recurrence``: in
    words. ``organizer_mail``: whose address the organizer's stands for, where Apple put one of its own in its place;
    answers go to that one. ``times``: beginnings and ends of its dates, from now on, where they are instants."""

    uid: str
    method: str
    recurrence_id: str = ""
    sequence: int = 0
    stamp: Millis = 0
    status: str = ""
    summary: str = ""
    location: str = ""
    comment: str = ""
    start: Moment
    end: Moment
    all_day: bool = False
    timezone: str | None = None
    zone_known: bool = True
    organizer: Person | None = None
    organizer_mail: str = ""
    attendees: tuple[Attendee, ...] = ()
    recurrence: str | None = None
    times: tuple[tuple[Millis, Millis], ...] = ()
