"""A rule of recurrence in words, as far as a sentence holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final

_UNITS: Final = {"YEARLY": "year", "MONTHLY": "month", "WEEKLY": "week", "DAILY": "day", "HOURLY": "hour"}
_DAYS: Final = {
    "MO": "Monday",
    "TU": "Tuesday",
    "WE": "Wednesday",
    "TH": "Thursday",
    "FR": "Friday",
    "SA": "Saturday",
    "SU": "Sunday",
}


def in_words(rule: Mapping[str, Sequence[Any]]) -> str:
    """Such as ``every 2 weeks on Monday and Friday, 10 times``. A rule that is stranger is ``repeats``."""
    frequency = _first(rule, "FREQ")
    unit = _UNITS.get(str(frequency).upper())
    if unit is None:
        return "repeats"
    interval = _first(rule, "INTERVAL")
    every = f"every {interval} {unit}s" if isinstance(interval, int) and interval > 1 else f"every {unit}"
    days = [_DAYS[str(day).upper()] for day in rule.get("BYDAY", ()) if str(day).upper() in _DAYS]
    on = f" on {' and '.join([', '.join(days[:-1]), days[-1]] if len(days) > 1 else days)}" if days else ""
    return f"{every}{on}{_end(rule)}"


def _end(rule: Mapping[str, Sequence[Any]]) -> str:
    count, until = _first(rule, "COUNT"), _first(rule, "UNTIL")
    if isinstance(count, int):
        return f", {count} times"
    if isinstance(until, datetime | date):
        return f", until {until.day} {until:%B %Y}"
    return ""


def _first(rule: Mapping[str, Sequence[Any]], name: str) -> Any:
    values = rule.get(name)
    return values[0] if isinstance(values, Sequence) and not isinstance(values, str) and values else values
