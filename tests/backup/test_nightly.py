"""Ten past two, local time: once a day, also on the days on which the clock is changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from svc.backup.nightly import latest_due, next_due
from svc.clock import HOUR_MS, MINUTE_MS

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.parametrize(
    ("day", "due"),
    [
        ("2026-11-21", "2026-11-21T02:10:00+01:00"),
        ("2026-03-29", "2026-03-29T03:10:00+02:00"),  # 02:10 does not exist
        ("2026-10-25", "2026-10-25T02:10:00+02:00"),  # it comes twice: the first one
    ],
)
def test_a_night_has_one(day: str, due: str) -> None:
    noon = at(f"{day}T12:00:00+00:00")
    assert latest_due(noon, BERLIN) == at(due)
    assert latest_due(at(due), BERLIN) == at(due)
    assert latest_due(at(due) - 1, BERLIN) < at(due) - 20 * HOUR_MS
    assert next_due(at(due) - 1, BERLIN) == at(due)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"])
def test_over_two_years_each_day_has_exactly_one(zone: str) -> None:
    place = ZoneInfo(zone)
    now = round(datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp() * 1000)
    last = latest_due(now, place)
    days = []
    for _ in range(731):
        due = next_due(last, place)
        assert latest_due(due, place) == due
        assert latest_due(due + 90 * MINUTE_MS, place) == due, "not twice, where the hour comes twice"
        days.append(datetime.fromtimestamp(due / 1000, place).date())
        last = due
    assert days == [days[0] + timedelta(days=count) for count in range(731)]
