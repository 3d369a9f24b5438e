"""Times as people type them, and those that are offered: read in Node, in several zones."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from tests.peers.needs import NODE, need

READER: Final = Path(__file__).with_name("time_reader.mjs")
MONDAY: Final = "2026-11-23T10:30:00"
"""A Monday, half past ten."""
MEANS: Final[list[tuple[str, str]]] = [
    ("fri 9am", "2026-11-27 09:00"),
    ("FRI. 9 AM", "2026-11-27 09:00"),
    ("9 pm fri", "2026-11-27 21:00"),
    ("fri", "2026-11-27 08:00"),
    ("mon", "2026-11-30 08:00"),
    ("mon 11", "2026-11-23 11:00"),
    ("mon 10", "2026-11-30 10:00"),
    ("next fri", "2026-12-04 08:00"),
    ("in 2 hours", "2026-11-23 12:30"),
    ("2h", "2026-11-23 12:30"),
    ("90 min", "2026-11-23 12:00"),
    ("in 1h 30 min", "2026-11-23 12:00"),
    ("half an hour", "2026-11-23 11:00"),
    ("in an hour", "2026-11-23 11:30"),
    ("in 3 days", "2026-11-26 08:00"),
    ("in 3 days 17:15", "2026-11-26 17:15"),
    ("in 2 weeks", "2026-12-07 08:00"),
    ("in a month", "2026-12-23 08:00"),
    ("today", "2026-11-23 17:00"),
    ("today 9", "2026-11-23 21:00"),
    ("tomorrow", "2026-11-24 08:00"),
    ("tmrw 14:15", "2026-11-24 14:15"),
    ("tomorrow evening 7", "2026-11-24 19:00"),
    ("7 tomorrow evening", "2026-11-24 19:00"),
    ("day after tomorrow", "2026-11-25 08:00"),
    ("tonight", "2026-11-23 18:00"),
    ("eod", "2026-11-23 17:00"),
    ("end of day tomorrow", "2026-11-24 17:00"),
    ("eow", "2026-11-27 17:00"),
    ("eom", "2026-11-30 17:00"),
    ("weekend", "2026-11-28 08:00"),
    ("next week", "2026-11-30 08:00"),
    ("next month", "2026-12-01 08:00"),
    ("noon", "2026-11-23 12:00"),
    ("midnight", "2026-11-24 00:00"),
    ("9", "2026-11-24 09:00"),
    ("11", "2026-11-23 11:00"),
    ("21", "2026-11-23 21:00"),
    ("3", "2026-11-23 15:00"),
    ("03:00", "2026-11-24 03:00"),
    ("0915", "2026-11-24 09:15"),
    ("9.30", "2026-11-24 09:30"),
    ("12am", "2026-11-24 00:00"),
    ("1/12", "2026-12-01 08:00"),
    ("1.12. 9:30", "2026-12-01 09:30"),
    ("12/31", "2026-12-31 08:00"),
    ("22/11", "2027-11-22 08:00"),
    ("2027-02-03 9", "2027-02-03 09:00"),
    ("12 dec", "2026-12-12 08:00"),
    ("Dec 12th, 2027 at 9", "2027-12-12 09:00"),
    ("3rd", "2026-12-03 08:00"),
    ("29 feb", "2028-02-29 08:00"),
    ("12 mar", "2027-03-12 08:00"),
    # German
    ("morgen", "2026-11-24 08:00"),
    ("morgen früh", "2026-11-24 08:00"),
    ("Übermorgen 15 Uhr", "2026-11-25 15:00"),
    ("Freitag um 9 Uhr 30", "2026-11-27 09:30"),
    ("do", "2026-11-26 08:00"),
    ("heute abend", "2026-11-23 18:00"),
    ("nächste Woche", "2026-11-30 08:00"),
    ("in einer Stunde", "2026-11-23 11:30"),
    ("24. Dezember", "2026-12-24 08:00"),
    # French
    ("demain à 14h", "2026-11-24 14:00"),
    ("vendredi 9h30", "2026-11-27 09:30"),
    ("mardi", "2026-11-24 08:00"),
    ("après-demain", "2026-11-25 08:00"),
    ("dans 2 heures", "2026-11-23 12:30"),
    ("la semaine prochaine", "2026-11-30 08:00"),
    ("24 décembre", "2026-12-24 08:00"),
    # Spanish
    ("mañana", "2026-11-24 08:00"),
    ("mañana por la tarde", "2026-11-24 15:00"),
    ("el viernes a las 9", "2026-11-27 09:00"),
    ("miércoles", "2026-11-25 08:00"),
    ("en 2 horas", "2026-11-23 12:30"),
    ("pasado mañana", "2026-11-25 08:00"),
]
REFUSED: Final = {
    "yesterday": "Not understood",
    "fri 25:00": "Not understood",
    "31/2": "Not understood",
    "mon tue": "Not understood",
    "9 10": "Not understood",
    "9am in 2 hours": "Not understood",
    "fri 13pm": "Not understood",
    "2020-01-01": "in the past",
    "2040-01-01": "At most 5 years",
    "in 99999999999 days": "At most 5 years",
    "today 8am": "in the past",
}
ZONES: Final = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "America/Sao_Paulo",
)
WORDS: Final = """
    fri mon mar so do tomorrow morgen demain mañana today eod eow tonight weekend next week in on at um 2 9 3 21 12 31
    1/12 31.12. 2027-03-28 2 hours days min h am pm 9am 9:30 02:30 0230 noon midnight dec 3rd evening früh a half Uhr
    xyz . 29 feb
""".split()  # noqa: SIM905


def ask(
    zone: str, asks: list[tuple[str, str, bool]], presets: list[str] | None = None, *, week_start: int = 1
) -> dict[str, Any]:
    need(NODE)
    questions = {
        "asks": [{"text": text, "now": now, "dayFirst": first, "weekStart": week_start} for text, now, first in asks],
        "presets": presets or [],
    }
    done = subprocess.run(
        ["node", str(READER)],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TZ": zone},
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_what_people_type_means_what_they_mean(zone: str) -> None:
    read = ask(zone, [(text, MONDAY, True) for text, _ in MEANS])["read"]
    assert {text: one["at"] for (text, _), one in zip(MEANS, read, strict=True)} == dict(MEANS)


def test_what_is_no_time_or_none_that_can_be_says_so() -> None:
    read = ask("Europe/Berlin", [(text, MONDAY, True) for text in REFUSED])["read"]
    wrong = [(text, one) for text, one in zip(REFUSED, read, strict=True) if REFUSED[text] not in one["problem"]]
    assert wrong == []
    assert [one["at"] for one in read] == [None] * len(REFUSED)


@pytest.mark.parametrize(("week_start", "sunday", "monday"), [(0, "11-29", "11-30"), (1, "12-06", "11-30")])
def test_next_sunday_is_in_the_week_that_begins_next(week_start: int, sunday: str, monday: str) -> None:
    """Seen from a Wednesday."""
    asks = [(text, "2026-11-25T10:00:00", True) for text in ("next sunday", "next monday")]
    read = ask("Europe/Berlin", asks, week_start=week_start)["read"]
    assert [one["at"] for one in read] == [f"2026-{sunday} 08:00", f"2026-{monday} 08:00"]


def test_where_the_month_stands_first_one_slash_twelve_is_in_january() -> None:
    texts = ["1/12", "13/1", "1.12."]
    read = ask("America/New_York", [(text, MONDAY, False) for text in texts])["read"]
    assert [one["at"] for one in read] == ["2027-01-12 08:00", "2027-01-13 08:00", "2026-12-01 08:00"]


def test_eight_stays_eight_when_clocks_change_and_hours_are_hours() -> None:
    eve = "2026-03-28T22:00:00"
    texts = ["tomorrow", "in 8 hours", "tomorrow 02:30", "in 1 day 9"]
    read = ask("Europe/Berlin", [(text, eve, True) for text in texts])["read"]
    assert [one["at"] for one in read] == [
        "2026-03-29 08:00", "2026-03-29 07:00", "2026-03-29 03:30", "2026-03-29 09:00"
    ]  # fmt: skip
    assert read[0]["ahead"] == 9 * 3_600_000


def moments(chance: random.Random) -> list[str]:
    """Days of all kinds, and the hours around each change of clocks."""
    some = [
        f"20{chance.randint(24, 31)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        f"T{chance.randint(0, 23):02}:{chance.randint(0, 59):02}:{chance.randint(0, 59):02}"
        for _ in range(40)
    ]
    return [*some, "2028-02-29T23:59:59", "2026-12-31T23:59:50", "2026-03-29T01:59:00", "2026-10-25T02:30:00"]


@pytest.mark.thorough
@pytest.mark.parametrize("zone", ZONES)
def test_whatever_is_typed_whenever_is_ahead_or_says_why_not(zone: str) -> None:
    chance = random.Random(zone)
    asks = [
        (" ".join(chance.choices(WORDS, k=chance.randint(1, 4))), now, chance.random() < 0.5)
        for now in moments(chance)
        for _ in range(60)
    ]
    read = ask(zone, asks)["read"]
    assert [pair for pair in zip(asks, read, strict=True) if pair[1]["at"] and pair[1]["ahead"] <= 0] == []
    assert [ask for ask, one in zip(asks, read, strict=True) if not one["at"] and not one["problem"]] == []
    assert sum(one["at"] is not None for one in read) > len(read) // 5


@pytest.mark.parametrize("zone", ZONES)
def test_never_fewer_than_three_times_are_offered_all_ahead_and_in_their_order(zone: str) -> None:
    for offered in ask(zone, [], moments(random.Random(zone)))["presets"]:
        ahead = [one["ahead"] for one in offered]
        assert len(offered) >= 3
        assert ahead[0] > 0
        assert ahead == sorted(set(ahead))


def test_what_is_offered_on_a_monday_morning_and_on_a_sunday_night() -> None:
    monday, sunday = ask("Europe/Berlin", [], [MONDAY, "2026-11-22T22:30:00"])["presets"]
    assert [(one["name"], one["at"]) for one in monday] == [
        ("Later today", "2026-11-23 13:00"),
        ("Tomorrow", "2026-11-24 08:00"),
        ("Tomorrow afternoon", "2026-11-24 15:00"),
        ("Saturday", "2026-11-28 08:00"),
        ("Next Monday", "2026-11-30 08:00"),
    ]
    assert [(one["name"], one["at"]) for one in sunday] == [
        ("Tomorrow", "2026-11-23 08:00"),
        ("Tomorrow afternoon", "2026-11-23 15:00"),
        ("In a week", "2026-11-29 08:00"),
    ]
