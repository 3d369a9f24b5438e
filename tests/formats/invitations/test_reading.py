"""What is read of calendar files: as three large calendars send them, and as nobody should."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc.formats.invitations import read_invitations, write_reply
from svc.formats.invitations.model import MAX_EVENTS, MAX_TIMES
from svc.formats.invitations.reading import NoSuchEvent
from tests.support.calendars import BO, MIA, START, apple, google, lines, outlook, stamp

NOW = round((START - timedelta(days=10)).timestamp() * 1_000)
HOUR_MS = 3_600_000


def test_googles_is_read() -> None:
    (one,) = read_invitations(google(), NOW)
    assert (one.uid, one.method, one.summary) == ("abc123@google.com", "REQUEST", "Panels, second reading")
    assert (one.start.text, one.end.text) == ("2027-03-03T09:00:00.000Z", "2027-03-03T10:00:00.000Z")
    assert one.location == "Harbour 4, Fjærvik"
    assert one.organizer is not None
    assert (one.organizer.name, one.organizer.address) == ("Bo Lind", BO)
    assert [(it.address, it.answer) for it in one.attendees] == [(MIA, "needs-action"), (BO, "accepted")]
    assert one.times == ((one.start.at, one.end.at),)


@pytest.mark.parametrize(
    ("zone", "offset", "with_zone", "text"),
    [
        ("W. Europe Standard Time", "+0100", True, "2027-03-03T09:00:00.000Z"),
        ("W. Europe Standard Time", "+0100", False, "2027-03-03T09:00:00.000Z"),
        ("Customized Time Zone", "+0100", True, "2027-03-03T09:00:00.000Z"),
        ("Customized Time Zone", "+0530", True, "2027-03-03T04:30:00.000Z"),
        ("tzone://Microsoft/Custom", "+0530", True, "2027-03-03T04:30:00.000Z"),
        ("tzone://Microsoft/Custom", "+0100", False, "2027-03-03T10:00:00"),
        ("(UTC+01:00) Amsterdam, Berlin, Bern, Rome", "+0100", True, "2027-03-03T09:00:00.000Z"),
        ("Mars/Olympus", "+0100", False, "2027-03-03T10:00:00"),
        ("Customized Time Zone", "+0100", False, "2027-03-03T10:00:00"),
    ],
)
def test_outlooks_zones_are_the_files_then_windows_else_unknown(
    zone: str, offset: str, with_zone: bool, text: str
) -> None:
    (one,) = read_invitations(outlook(zone=zone, offset=offset, with_zone=with_zone), NOW)
    assert (one.start.text, one.timezone) == (text, zone)
    assert one.zone_known is text.endswith("Z")


def test_a_series_keeps_its_hour_when_summer_time_begins_and_leaves_out_what_it_says() -> None:
    rule = "RRULE:FREQ=WEEKLY;INTERVAL=1;BYDAY=WE;COUNT=6\nEXDATE;TZID=W. Europe Standard Time:20270310T100000"
    (one,) = read_invitations(outlook(rule=rule), NOW)
    assert one.recurrence == "every week on Wednesday, 6 times"
    begins = [datetime.fromtimestamp(starts / 1_000, UTC) for starts, _ in one.times]
    assert [(it.day, it.hour) for it in begins] == [(3, 9), (17, 9), (24, 9), (31, 8), (7, 8)]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("FREQ=MONTHLY;BYDAY=-1FR", "every month on the last Friday"),
        ("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=2", "every month on the second Monday"),
        ("FREQ=MONTHLY;BYDAY=1TU,3TU", "every month on the first Tuesday and the third Tuesday"),
        ("FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=15", "every 3 months on day 15"),
        ("FREQ=MONTHLY;BYMONTHDAY=-1", "every month on the last day"),
        ("FREQ=WEEKLY;BYDAY=MO,WE,FR", "every week on Monday, Wednesday and Friday"),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "every month on the last weekday"),
        ("FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1", "every month"),
    ],
)
def test_a_rule_in_words(rule: str, words: str) -> None:
    (one,) = read_invitations(google(extra=f"RRULE:{rule}"), NOW)
    assert one.recurrence == words


def test_letters_that_a_fold_divides_and_those_of_an_old_character_set_are_read() -> None:
    whole = google()
    folded = whole.replace("æ".encode(), b"\xc3\r\n \xa6")
    old = whole.replace("æ".encode(), b"\xe6")
    assert whole != folded != old
    for data in (folded, old):
        (one,) = read_invitations(data, NOW)
        assert one.location == "Harbour 4, Fjærvik"


def test_apples_whole_days_are_dates() -> None:
    (one,) = read_invitations(apple(), NOW)
    assert (one.all_day, one.start.text, one.end.text, one.times) == (True, "2027-03-03", "2027-03-05", ())
    assert one.organizer is not None
    assert one.organizer.address == BO


@pytest.mark.parametrize(
    "rule",
    [
        "RRULE:FREQ=SECONDLY",
        "RRULE:FREQ=DAILY;BYSECOND=0,1,2,3,4,5",
        "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "RRULE:FREQ=DAILY;COUNT=999999999",
        "RRULE:FREQ=WEEKLY;UNTIL=19700101T000000Z",
        "RDATE:" + ",".join(stamp(START + timedelta(days=n)) for n in range(1_000)),
    ],
    ids=["seconds", "often", "never", "long", "over", "dates"],
)
def test_a_rule_that_asks_for_much_gets_little(rule: str) -> None:
    (one,) = read_invitations(google(extra=rule), NOW)
    assert len(one.times) <= MAX_TIMES


def test_what_is_too_much_or_nothing_is_no_invitation() -> None:
    assert read_invitations(b"", NOW) == ()
    assert read_invitations(b"BEGIN:VCALENDAR\r\n" * 1_000, NOW) == ()
    assert read_invitations(google() + b" " * 2**20, NOW) == ()
    event = b"BEGIN:VEVENT\r\nUID:%d\r\nDTSTART:20270303T090000Z\r\nEND:VEVENT\r\n"
    many = b"BEGIN:VCALENDAR\r\n" + b"".join(event % n for n in range(500)) + b"END:VCALENDAR\r\n"
    assert len(read_invitations(many, NOW)) == MAX_EVENTS


@given(st.binary(max_size=300))
@settings(max_examples=60)
def test_no_bytes_raise(data: bytes) -> None:
    read_invitations(data, NOW)
    read_invitations(google().replace(b"SEQUENCE:0", data), NOW)
    read_invitations(lines("BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1") + data + b"\r\nEND:VEVENT\r\nEND:VCALENDAR", NOW)


def test_a_reply_names_one_attendee_as_invited_and_copies_what_finds_the_meeting() -> None:
    invitation = outlook(rule="RECURRENCE-ID;TZID=W. Europe Standard Time:20270303T100000")
    (one,) = read_invitations(invitation, NOW)
    reply = write_reply(invitation, one.uid, one.recurrence_id, MIA, "tentative", "Perhaps; late,\nsorry", NOW)
    text = reply.decode().replace("\r\n ", "")
    assert text.count("ATTENDEE") == 1
    assert f"PARTSTAT=TENTATIVE:mailto:{MIA}" in text
    for line in ("METHOD:REPLY", f"UID:{one.uid}", "SEQUENCE:0", f'ORGANIZER;CN="Bo Lind":mailto:{BO}'):
        assert line.replace('"', "") in text.replace('"', ""), line
    assert "RECURRENCE-ID;TZID=" in text
    assert "BEGIN:VTIMEZONE" in text
    (read,) = read_invitations(reply, NOW)
    assert (read.method, read.recurrence_id, read.start) == ("REPLY", one.recurrence_id, one.start)
    assert [(it.address, it.answer) for it in read.attendees] == [(MIA, "tentative")]


def test_what_is_not_in_the_file_can_not_be_answered() -> None:
    for uid, attendee in (("other", MIA), ("abc123@google.com", "else@example.org")):
        with pytest.raises(NoSuchEvent):
            write_reply(google(), uid, "", attendee, "accepted", "", NOW)
