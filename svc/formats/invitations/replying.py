"""The answer to an invitation: RFC 5546, 3.2.3. Runs in worker processes alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from svc.clock import Millis
from svc.formats.invitations.model import Answer
from svc.formats.invitations.reading import address_of, listed, parsed, recurrence_of, uid_of

PRODUCT: Final = "-//svc//svc//EN"
_COPIED: Final = (
    "UID",
    "SEQUENCE",
    "ORGANIZER",
    "RECURRENCE-ID",
    "DTSTART",
    "DTEND",
    "DURATION",
    "SUMMARY",
    "LOCATION",
)
"""As they stand in the invitation. Some calendars find the meeting by its beginning."""


class NoSuchEvent(ValueError):
    """The file does not hold what is answered, any more or at all."""


def write_reply(
    data: bytes, uid: str, recurrence_id: str, attendee: str, answer: Answer, comment: str, now: Millis
) -> bytes:
    """``attendee``: the address that was invited, as it stands there; it is the only one in the answer. Raises
    :class:`NoSuchEvent`."""
    from icalendar import Calendar, Event, vCalAddress

    calendar = parsed(data)
    events = (one for one in calendar.walk("VEVENT") if (uid_of(one), recurrence_of(one)) == (uid, recurrence_id))
    event = next(events, None)
    if event is None:
        raise NoSuchEvent
    invited = _invited(event, attendee)
    reply = Calendar()
    reply.add("PRODID", PRODUCT)
    reply.add("VERSION", "2.0")
    reply.add("METHOD", "REPLY")
    for zone in calendar.walk("VTIMEZONE"):
        reply.add_component(zone)
    told = Event()
    for name in _COPIED:
        if event.get(name) is not None:
            told[name] = event[name]
    told.add("DTSTAMP", datetime.fromtimestamp(now // 1_000, UTC))
    person = vCalAddress(str(invited))
    person.params["PARTSTAT"] = answer.upper()
    if invited.params.get("CN"):
        person.params["CN"] = invited.params["CN"]
    told["ATTENDEE"] = person
    if comment:
        told.add("COMMENT", comment)
    reply.add_component(told)
    return bytes(reply.to_ical())


def _invited(event: Any, attendee: str) -> Any:
    found = next((one for one in listed(event.get("ATTENDEE")) if address_of(one) == attendee), None)
    if found is None:
        raise NoSuchEvent
    return found
