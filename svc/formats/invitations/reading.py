"""Reads the events of a calendar file, as an invitation needs them. Runs only in worker processes.

Time zones: an IANA name is used as it is, else the file's own ``VTIMEZONE`` (also a "Customized Time Zone"), else
Windows' names by the table of CLDR; otherwise the zone counts as unknown. The library keeps the zones of a file for the
next file, which another stranger wrote, so they are reset before each file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any, Final

from svc.clock import Millis
from svc.formats.invitations.model import (
    HORIZON_MS,
    MAX_ATTENDEES,
    MAX_BYTES,
    MAX_EVENTS,
    MAX_TEXT_CHARS,
    MAX_TIMES,
    MAX_UID_CHARS,
    Attendee,
    Invitation,
    Moment,
)
from svc.formats.invitations.recurring import in_words
from svc.formats.person import Person
from svc.formats.text import clean_line, clean_token, cut

_TOO_OFTEN: Final = frozenset({"SECONDLY", "MINUTELY"})
"""No meeting repeats so often; such a rule would only take time."""
_FOLD: Final = re.compile(rb"\r?\n[ \t]")
_BARE_ZONE: Final = re.compile(
    r'^([A-Z-]{3,20}(?:;VALUE=[A-Z-]{1,20})?;TZID=)([^":;\r\n]{0,80}:[^";\r\n]{0,80}):(\d{8}(?:T\d{6})?[\dTZ,]*)(?=\r?$)',
    re.MULTILINE,
)
"""A zone with a colon in its name and without quotes: Exchange's ``tzone://Microsoft/Custom``."""
_APPLES_OWN: Final = "imip.me.com"
"""The domain of iCloud's substitute addresses, one for each meeting; the file has the real address beside it."""
_METHODS: Final = frozenset({"REQUEST", "CANCEL", "REPLY", "COUNTER", "DECLINECOUNTER", "PUBLISH", "ADD", "REFRESH"})


def read_invitations(data: bytes, now: Millis) -> tuple[Invitation, ...]:
    """The events in a file; the whole series before its dates. Empty if the data is no calendar. ``now``: dates are
    listed from this time on."""
    if len(data) > MAX_BYTES:
        return ()
    try:
        calendar = parsed(data)
        events = list(islice((one for one in calendar.walk("VEVENT") if _is_whole(one)), MAX_EVENTS))
    except Exception:  # an edge: any error of the library on a stranger's file means that it holds no invitation
        return ()
    method = clean_token(str(calendar.get("METHOD", "PUBLISH"))).upper()
    method = method if method in _METHODS else "PUBLISH"
    found = [_read(event, method, events=events, now=now) for event in events]
    return tuple(sorted(filter(None, found), key=lambda one: one.recurrence_id))


def _read(event: Any, method: str, *, events: Sequence[Any], now: Millis) -> Invitation | None:
    try:
        return _invitation(event, method, events=events, now=now)
    except Exception:  # an edge: the same, for one event
        return None


def parsed(data: bytes) -> Any:
    """The first calendar of a file. Raises ``ValueError`` and others of the library."""
    from icalendar import Calendar
    from icalendar.timezone import tzp

    tzp.use_default()  # drops the zones of the last file
    calendars = Calendar.from_ical(_BARE_ZONE.sub(r'\1"\2":\3', _decoded(data)), multiple=True)
    return next(one for one in calendars if one.name == "VCALENDAR")


def _decoded(data: bytes) -> str:
    """The text of a file, with its lines unfolded first: a fold may stand in the middle of a letter (RFC 5545, 3.1).
    Where no letter is one of UTF-8, the file is in the character set of old programs in Western Europe."""
    plain = _FOLD.sub(b"", data)
    text = plain.decode("utf-8", "replace").lstrip("\ufeff")
    is_other = "\ufffd" in text and text.replace("\ufffd", "").isascii()
    return plain.decode("cp1252", "replace") if is_other else text


class NoSuchEvent(ValueError):
    """The file does not hold the event that is answered, or no longer does."""


def event_of(calendar: Any, uid: str, recurrence_id: str) -> Any:
    """Raises :class:`NoSuchEvent`."""
    found = (one for one in calendar.walk("VEVENT") if (uid_of(one), recurrence_of(one)) == (uid, recurrence_id))
    event = next(found, None)
    if event is None:
        raise NoSuchEvent
    return event


def recurrence_of(event: Any) -> str:
    """Its ``RECURRENCE-ID``, spelled the same for the same date: an instant in UTC, or the text in the file."""
    value = event.get("RECURRENCE-ID")
    return "" if value is None else _moment(value.dt).text


def uid_of(event: Any) -> str:
    return clean_token(str(event.get("UID", "")))[:MAX_UID_CHARS]


def address_of(value: Any) -> str:
    """The mail address of a person. Apple's value is a place on its server; the address is then in ``EMAIL``."""
    text = str(value).strip()
    if not text.lower().startswith("mailto:"):
        return clean_token(str(value.params.get("EMAIL", "")))
    return clean_token(text[len("mailto:") :])


def stands_for(value: Any) -> str:
    """The real address behind a substitute address of Apple; empty for any other address. Nobody can guess a substitute
    address, so a file that has one comes from somebody with the invitation. For any other address, a file could claim
    anybody."""
    domain = address_of(value).rpartition("@")[2].lower()
    return clean_token(str(value.params.get("EMAIL", ""))) if domain == _APPLES_OWN else ""


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _is_whole(event: Any) -> bool:
    return bool(uid_of(event)) and hasattr(event.get("DTSTART"), "dt")


def _invitation(event: Any, method: str, *, events: Sequence[Any], now: Millis) -> Invitation:
    start, end = event["DTSTART"].dt, _end(event)
    zone = event["DTSTART"].params.get("TZID")
    all_day = not isinstance(start, datetime)
    organizer = event.get("ORGANIZER")
    rule = next(iter(listed(event.get("RRULE"))), None)
    begins, ends = _moment(start), _moment(end)
    return Invitation(
        uid=uid_of(event),
        method=method,
        recurrence_id=recurrence_of(event),
        sequence=_number(event.get("SEQUENCE")),
        stamp=_stamp(event),
        status=clean_token(str(event.get("STATUS", ""))).lower(),
        summary=_text(event.get("SUMMARY")),
        location=_text(event.get("LOCATION")),
        comment=_text(event.get("COMMENT")),
        start=begins,
        end=ends,
        all_day=all_day,
        timezone=None if zone is None else _text(zone),
        zone_known=zone is None or begins.at is not None,
        organizer=None if organizer is None else _person(organizer),
        organizer_mail="" if organizer is None else stands_for(organizer),
        attendees=tuple(_attendee(one) for one in listed(event.get("ATTENDEE"))[:MAX_ATTENDEES]),
        recurrence=None if rule is None else in_words(rule),
        times=() if begins.at is None else tuple(_times(event, events, begins.at, ends.at or begins.at, now=now)),
    )


def _times(
    event: Any, events: Sequence[Any], begins: Millis, ends: Millis, *, now: Millis
) -> Iterator[tuple[int, int]]:
    rules = listed(event.get("RRULE"))
    often = any(str(one).upper() in _TOO_OFTEN for rule in rules for one in listed(rule.get("FREQ")))
    if (not rules and event.get("RDATE") is None) or often or recurrence_of(event):
        yield begins, max(begins, ends)
        return
    import recurring_ical_events
    from icalendar import Calendar

    series = Calendar()
    for one in events:
        if uid_of(one) == uid_of(event):
            series.add_component(one)
    first = datetime.fromtimestamp(now / 1_000, UTC)
    for one in islice(recurring_ical_events.of(series).after(first), MAX_TIMES):
        at, until = _moment(one["DTSTART"].dt).at, _moment(_end(one)).at
        if at is None or until is None or at > now + HORIZON_MS:
            return
        yield at, max(at, until)


def _end(event: Any) -> date | datetime:
    start: date | datetime = event["DTSTART"].dt
    if hasattr(event.get("DTEND"), "dt"):
        end: date | datetime = event["DTEND"].dt
        return end if isinstance(end, datetime) == isinstance(start, datetime) else start
    length = event.get("DURATION")
    if length is not None and isinstance(length.dt, timedelta):
        return start + length.dt
    return start if isinstance(start, datetime) else start + timedelta(days=1)


def _moment(value: date | datetime) -> Moment:
    if not isinstance(value, datetime):
        return Moment(text=value.isoformat())
    if value.tzinfo is None:
        return Moment(text=value.isoformat(timespec="seconds"))
    instant = value.astimezone(UTC)
    text = instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return Moment(text=text, at=round(instant.timestamp() * 1_000))


def _stamp(event: Any) -> Millis:
    value = event.get("DTSTAMP")
    return (_moment(value.dt).at or 0) if hasattr(value, "dt") else 0


def _person(value: Any) -> Person:
    return Person(name=_text(value.params.get("CN", "")), address=address_of(value))


def _attendee(value: Any) -> Attendee:
    person = _person(value)
    answer = clean_token(str(value.params.get("PARTSTAT", "NEEDS-ACTION"))).lower()
    return Attendee(name=person.name, address=person.address, answer=answer)


def _text(value: Any) -> str:
    return "" if value is None else cut(clean_line(str(next(iter(listed(value)), ""))), limit=MAX_TEXT_CHARS)


def _number(value: Any) -> int:
    try:
        return max(0, min(int(value or 0), 2**31))
    except (TypeError, ValueError):
        return 0
