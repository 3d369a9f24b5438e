"""The records of an invitation, and every limit for reading one. Records only; stored as JSON."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from svc.clock import DAY_MS, Millis
from svc.formats.person import Person

MAX_BYTES: Final = 1024 * 1024
MAX_EVENTS: Final = 20
"""Events of one file: a series, and its changed dates."""
MAX_ATTENDEES: Final = 500
MAX_TIMES: Final = 200
"""Dates of a series that are checked for conflicts."""
HORIZON_MS: Final = 400 * DAY_MS
"""Counted from now; later dates are not looked at."""
MAX_TEXT_CHARS: Final = 2_000
MAX_UID_CHARS: Final = 500

Answer = Literal["accepted", "tentative", "declined"]


class Moment(msgspec.Struct, frozen=True):
    """``text``: a date, an instant in UTC, or a local time if the zone is unknown or there is none. ``at``: the
    instant, if it is one."""

    text: str
    at: Millis | None = None


class Attendee(msgspec.Struct, frozen=True):
    """``answer``: ``needs-action``, ``accepted``, ``tentative``, ``declined``, or another value of RFC 5545, in lower
    case."""

    name: str
    address: str
    answer: str


class Invitation(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a calendar file. ``recurrence_id``: the date of the series that it is about, as in the file; empty
    for the whole series. ``timezone``: the name of its zone; ``zone_known``: whether the zone is known. ``recurrence``:
    in words. ``organizer_mail``: the organizer's real address if the file has a substitute address of Apple; answers go
    to the substitute. ``times``: the beginnings and ends of its dates, from now on, if they are instants."""

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
