"""Describes a recurrence rule in words, as far as one sentence can."""

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
_WHICH: Final = {1: "first", 2: "second", 3: "third", 4: "fourth", -1: "last", -2: "last but one"}
_LAST_DAY: Final = -1
WEEKDAYS: Final = 5


def in_words(rule: Mapping[str, Sequence[Any]]) -> str:
    """Such as ``every 2 weeks on Monday and Friday, 10 times``. A more complex rule becomes ``repeats``."""
    frequency = _first(rule, "FREQ")
    unit = _UNITS.get(str(frequency).upper())
    if unit is None:
        return "repeats"
    interval = _first(rule, "INTERVAL")
    every = f"every {interval} {unit}s" if isinstance(interval, int) and interval > 1 else f"every {unit}"
    days = [*_weekdays(rule), *_days_of_month(rule)]
    on = f" on {' and '.join([', '.join(days[:-1]), days[-1]] if len(days) > 1 else days)}" if days else ""
    return f"{every}{on}{_end(rule)}"


def _weekdays(rule: Mapping[str, Sequence[Any]]) -> list[str]:
    """Such as ``Monday``, or ``the last Friday``."""
    places, given = rule.get("BYSETPOS", ()), [str(day).upper() for day in rule.get("BYDAY", ())]
    if places and len(given) > 1:
        is_weekday = set(given) == set(list(_DAYS)[:WEEKDAYS]) and len(places) == 1 and places[0] in _WHICH
        return [f"the {_WHICH[places[0]]} weekday"] if is_weekday else []
    found = []
    for text in given:
        name, number = _DAYS.get(text[-2:]), text[:-2]
        if name is None:
            continue
        if not number and len(places) == 1:
            number = str(places[0])
        which = _WHICH.get(int(number)) if number.lstrip("+-").isdecimal() else None
        if which is not None or not number:
            found.append(name if which is None else f"the {which} {name}")
    return found


def _days_of_month(rule: Mapping[str, Sequence[Any]]) -> list[str]:
    days = [day for day in rule.get("BYMONTHDAY", ()) if isinstance(day, int)]
    return ["the last day" if day == _LAST_DAY else f"day {day}" for day in days if day >= _LAST_DAY]


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
