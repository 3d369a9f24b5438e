"""Calendar files as Google, Outlook and Apple send them, cut to what they differ in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

MIA = "mia@example.org"
BO = "bo@partner.example"
START = datetime(2027, 3, 3, 9, 0, tzinfo=UTC)
"""A Wednesday, before summer time begins."""


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y%m%dT%H%M%SZ")


def lines(*given: str) -> bytes:
    return "\r\n".join(line for one in given for line in one.strip().splitlines()).encode() + b"\r\n"


def google(
    *,
    uid: str = "abc123@google.com",
    method: str = "REQUEST",
    sequence: int = 0,
    stamped: str = "20270201T080000Z",
    start: datetime = START,
    extra: str = "",
    status: str = "CONFIRMED",
    attendee: str = MIA,
    organizer: str = BO,
    beside: str = "",
) -> bytes:
    """Times in UTC; the method stands in the part's type and in the file."""
    return lines(
        f"""
BEGIN:VCALENDAR
PRODID:-//Google Inc//Google Calendar 70.9054//EN
VERSION:2.0
CALSCALE:GREGORIAN
METHOD:{method}
BEGIN:VEVENT
DTSTART:{stamp(start)}
DTEND:{stamp(start + timedelta(hours=1))}
DTSTAMP:{stamped}
ORGANIZER;CN=Bo Lind{beside}:mailto:{organizer}
UID:{uid}
ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=
 TRUE;CN=Mia Tern;X-NUM-GUESTS=0:mailto:{attendee}
ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;CN=Bo Lind:mailto:{organizer}
LOCATION:Harbour 4\\, Fjærvik
SEQUENCE:{sequence}
STATUS:{status}
SUMMARY:Panels\\, second reading
""",
        extra,
        "TRANSP:OPAQUE\nEND:VEVENT\nEND:VCALENDAR",
    )


def outlook(
    *, zone: str = "W. Europe Standard Time", offset: str = "+0100", with_zone: bool = True, rule: str = ""
) -> bytes:
    """A zone of Windows' names, described from the year 1601."""
    described = f"""
BEGIN:VTIMEZONE
TZID:{zone}
BEGIN:STANDARD
DTSTART:16010101T030000
TZOFFSETFROM:+0200
TZOFFSETTO:{offset}
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010101T020000
TZOFFSETFROM:{offset}
TZOFFSETTO:+0200
RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3
END:DAYLIGHT
END:VTIMEZONE
"""
    return lines(
        "BEGIN:VCALENDAR\nMETHOD:REQUEST\nPRODID:Microsoft Exchange Server 2010\nVERSION:2.0",
        described if with_zone else "",
        f"""
BEGIN:VEVENT
ORGANIZER;CN=Bo Lind:mailto:{BO}
ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE;CN=mia@exampl
 e.org:mailto:{MIA}
DESCRIPTION;LANGUAGE=en-US:Join here\\n
UID:040000008200E00074C5B7101A82E00800000000B0
SUMMARY;LANGUAGE=en-US:Weekly
DTSTART;TZID={zone}:20270303T100000
DTEND;TZID={zone}:20270303T110000
CLASS:PUBLIC
DTSTAMP:20270201T080000Z
SEQUENCE:0
LOCATION;LANGUAGE=en-US:Teams
X-MICROSOFT-CDO-APPT-SEQUENCE:0
""",
        rule,
        "END:VEVENT\nEND:VCALENDAR",
    )


def apple() -> bytes:
    """A whole day, without an address book name."""
    return lines(
        f"""
BEGIN:VCALENDAR
CALSCALE:GREGORIAN
VERSION:2.0
METHOD:REQUEST
PRODID:-//Apple Inc.//macOS 14.0//EN
BEGIN:VEVENT
UID:5C1B4D9E-0B0A-4C6B-9C06-6E6A2D4F1A11
DTSTART;VALUE=DATE:20270303
DTEND;VALUE=DATE:20270305
SUMMARY:Offsite
ORGANIZER;EMAIL="{BO}";CN="Bo Lind":/aMTYx/principal/
ATTENDEE;CUTYPE=INDIVIDUAL;EMAIL="{MIA}";PARTSTAT=NEEDS-ACTION:mailto:{MIA}
DTSTAMP:20270201T080000Z
SEQUENCE:0
END:VEVENT
END:VCALENDAR
"""
    )


RELAY = "2_GEYTSNJXGE4TINJYHA@imip.me.com"


def icloud(*, said: str = BO, at: str = RELAY, **more: Any) -> bytes:
    """The organizer has an address of the meeting's own, where answers go; whose it is stands beside it."""
    return google(uid="5C1B4D9E@icloud.com", organizer=at, beside=f";EMAIL={said}", **more)
