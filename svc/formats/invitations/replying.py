"""Writes the answer to an invitation: RFC 5546, 3.2.3. Runs only in worker processes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from svc.clock import Millis
from svc.formats.invitations.model import Answer
from svc.formats.invitations.reading import NoSuchEvent, address_of, event_of, listed, parsed

PRODUCT: Final = "-//svc//svc//EN"
COPIED: Final = (
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
"""Copied unchanged from the invitation. Some calendars find the meeting by its beginning."""


def write_reply(
    data: bytes, uid: str, recurrence_id: str, attendee: str, answer: Answer, comment: str, now: Millis
) -> bytes:
    """``attendee``: the invited address, as in the file; the answer contains only this one. Raises
    :class:`NoSuchEvent`."""
    from icalendar import vCalAddress

    calendar = parsed(data)
    event = event_of(calendar, uid, recurrence_id)
    invited = invited_of(event, attendee)
    reply, told = begun("REPLY", calendar.walk("VTIMEZONE"), now)
    for name in COPIED:
        if event.get(name) is not None:
            told[name] = event[name]
    person = vCalAddress(str(invited))
    person.params["PARTSTAT"] = answer.upper()
    if invited.params.get("CN"):
        person.params["CN"] = invited.params["CN"]
    told["ATTENDEE"] = person
    if comment:
        told.add("COMMENT", comment)
    reply.add_component(told)
    return bytes(reply.to_ical())


def begun(method: str, zones: Iterable[Any], now: Millis) -> tuple[Any, Any]:
    """A calendar with this method, and the event to put into it."""
    from icalendar import Calendar, Event

    calendar = Calendar()
    calendar.add("PRODID", PRODUCT)
    calendar.add("VERSION", "2.0")
    calendar.add("METHOD", method)
    for zone in zones:
        calendar.add_component(zone)
    told = Event()
    told.add("DTSTAMP", datetime.fromtimestamp(now // 1_000, UTC))
    return calendar, told


def invited_of(event: Any, attendee: str) -> Any:
    """The attendee in the file with this address. Raises :class:`NoSuchEvent`."""
    found = next((one for one in listed(event.get("ATTENDEE")) if address_of(one) == attendee), None)
    if found is None:
        raise NoSuchEvent
    return found
