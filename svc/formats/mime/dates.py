"""Reads the Date field (RFC 5322 sections 3.3 and 4.3), and other forms of dates that senders use. Never raises.

Owns only the reading of dates; the ingest decides which date a message gets (this one, or the provider's).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final

from svc.clock import Millis

MAX_DATE_CHARS: Final = 200
MAX_ZONE_HOURS: Final = 23
LATEST_MS: Final = 253_402_300_799_999
"""9999-12-31T23:59:59.999Z, the last instant that has a four-digit year."""

_MONTH_NAMES: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MONTHS: Final = MappingProxyType({name: index for index, name in enumerate(_MONTH_NAMES.split("|"), start=1)})
_ZONE_HOURS: Final[Mapping[str, int]] = MappingProxyType(
    {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "akst": -9, "akdt": -8}
    | {"hst": -10, "ast": -4, "adt": -3, "bst": 1, "met": 1, "mez": 1, "cet": 1, "mest": 2, "cest": 2, "eet": 2}
    | {"eest": 3, "msk": 3, "msd": 4, "jst": 9, "kst": 9, "hkt": 8, "sgt": 8, "aest": 10, "aedt": 11, "nzst": 12}
)
"""RFC 5322's own names, and those so common that their meaning is clear. Others count as UTC, as the RFC says."""

_MONTH: Final = rf"(?P<month>{_MONTH_NAMES})[a-z]{{0,6}}\.?"
_TIME: Final = (
    r"(?P<hour>\d{1,2})\s?[:.]\s?(?P<minute>\d{1,2})(?:\s?[:.]\s?(?P<second>\d{1,2}))?"
    r"(?:[.,]\d{1,9})?\s?(?P<half>[ap]m\b)?"
)
_ZONE: Final = r"(?:\s?(?P<name>[a-z]{1,5})\b)?(?:\s?(?P<offset>[+-]\s?\d{1,2}:?\d{2}))?"
_FORMS: Final = tuple(
    re.compile(form, re.ASCII)
    for form in (
        rf"(?<!\d)(?P<day>\d{{1,2}})[\s-]{_MONTH}[\s-](?P<year>\d{{2,4}})\s{_TIME}{_ZONE}",
        rf"{_MONTH}\s(?P<day>\d{{1,2}})\s{_TIME}{_ZONE}\s(?P<year>\d{{4}})(?P<after>\s?[+-]\d{{4}})?",
        rf"{_MONTH}\s(?P<day>\d{{1,2}})\s(?P<year>\d{{4}})\s{_TIME}{_ZONE}",
        rf"(?<!\d)(?P<year>\d{{4}})[-/](?P<month>\d{{1,2}})[-/](?P<day>\d{{1,2}})[\st](?:[a-z]{{3,9}}\s)?{_TIME}{_ZONE}",
        rf"(?<!\d)(?P<day>\d{{1,2}})[\s-]{_MONTH}[\s-](?P<year>\d{{2,4}})(?!\d)",
    )
)
_COMMENT: Final = re.compile(r"\([^()]*\)")
_WHITE: Final = re.compile(r"[\s,]+")


def parse_date(text: str) -> Millis | None:
    """``None`` if it is no date, or one before 1970 or after 9999. A date without a zone counts as UTC."""
    text = _WHITE.sub(" ", _COMMENT.sub(" ", text[:MAX_DATE_CHARS])).strip().lower()
    for form in _FORMS:
        if match := form.search(text):
            return _instant(match.groupdict())
    return None


def _instant(found: Mapping[str, str | None]) -> Millis | None:
    month = found["month"] or ""
    hour = int(found.get("hour") or 0)
    if half := found.get("half"):
        hour = hour % 12 + (12 if half == "pm" else 0)
    try:
        local = datetime(
            _year(found["year"] or ""),
            int(month) if month.isdigit() else _MONTHS[month],
            int(found["day"] or 0),
            hour,
            int(found.get("minute") or 0),
            min(int(found.get("second") or 0), 59),  # a leap second
            tzinfo=UTC,
        )
    except ValueError:
        return None
    instant = round(local.timestamp() * 1_000) - _offset_ms(found)
    return instant if 0 <= instant <= LATEST_MS else None


def _year(digits: str) -> int:
    """RFC 5322 section 4.3: two digits mean 1950 to 2049. 102 and 0102 mean 2002: some programs handle years from 2000
    on wrongly."""
    year = int(digits)
    if len(digits) == 2:
        return year + (2000 if year < 50 else 1900)
    return year + 1900 if year < 1000 else year  # "102", or "0102"


def _offset_ms(found: Mapping[str, str | None]) -> int:
    offset = (found.get("after") or found.get("offset") or "").replace(" ", "").replace(":", "")
    if offset:
        hours, minutes = int(offset[1:-2]), int(offset[-2:])
        if hours > MAX_ZONE_HOURS or minutes > 59:
            return 0
        shift = timedelta(hours=hours, minutes=minutes)
        return round((-shift if offset[0] == "-" else shift).total_seconds() * 1_000)
    return _ZONE_HOURS.get(found.get("name") or "", 0) * 3_600_000
