"""Writes an organizer's answer to a proposed new time (RFC 5546, 3.2.7): the meeting is moved, which is a new version
of it for everybody, or it stays (``DECLINECOUNTER``, 3.2.8). Runs only in worker processes."""

from __future__ import annotations

from itertools import chain
from typing import Any, Final

from svc.clock import Millis
from svc.formats.invitations.reading import address_of, event_of, listed, parsed
from svc.formats.invitations.replying import COPIED, begun, invited_of

_TIMES: Final = ("DTSTART", "DTEND", "DURATION")
_OLD: Final = ("DTSTAMP", "LAST-MODIFIED", "CREATED", "COMMENT", *_TIMES)


def write_kept(data: bytes, uid: str, recurrence_id: str, proposer: str, comment: str, now: Millis) -> bytes:
    """The answer that the time stays. ``data``: the proposal. Raises
    :class:`svc.formats.invitations.reading.NoSuchEvent`."""
    calendar = parsed(data)
    event = event_of(calendar, uid, recurrence_id)
    answer, told = begun("DECLINECOUNTER", calendar.walk("VTIMEZONE"), now)
    for name in COPIED:
        if event.get(name) is not None:
            told[name] = event[name]
    told["ATTENDEE"] = invited_of(event, proposer)
    if comment:
        told.add("COMMENT", comment)
    answer.add_component(told)
    return bytes(answer.to_ical())


def write_moved(
    data: bytes, proposal: bytes, uid: str, recurrence_id: str, sequence: int, comment: str, now: Millis
) -> bytes:
    """The meeting in ``data``, moved to the time of the ``proposal``, with the number ``sequence``. Everybody except
    the organizer is asked again. Raises :class:`svc.formats.invitations.reading.NoSuchEvent`."""
    planned, proposed = parsed(data), parsed(proposal)
    event, other = event_of(planned, uid, recurrence_id), event_of(proposed, uid, recurrence_id)
    zones = {str(zone.get("TZID")): zone for zone in chain(planned.walk("VTIMEZONE"), proposed.walk("VTIMEZONE"))}
    answer, told = begun("REQUEST", zones.values(), now)
    for name, value in event.items():
        if name not in {*_OLD, "SEQUENCE", "ATTENDEE"}:
            told[name] = value
    for name in _TIMES:
        if other.get(name) is not None:
            told[name] = other[name]
    told.add("SEQUENCE", sequence)
    organizer = address_of(event["ORGANIZER"]).lower()
    told["ATTENDEE"] = [_asked(one, organizer) for one in listed(event.get("ATTENDEE"))]
    if comment:
        told.add("COMMENT", comment)
    answer.add_component(told)
    return bytes(answer.to_ical())


def _asked(attendee: Any, organizer: str) -> Any:
    if address_of(attendee).lower() != organizer:
        attendee.params["PARTSTAT"] = "NEEDS-ACTION"
        attendee.params["RSVP"] = "TRUE"
    return attendee
