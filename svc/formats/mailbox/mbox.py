"""The mbox format: mails one after the other, each below a line ``From address date`` (RFC 4155).

Theory: a mail begins at a line that starts with ``From `` and holds a date. The program that wrote the file may not
have quoted such lines in bodies, so ``From `` alone is not enough. Thunderbird writes ``From `` and nothing else: such
a line counts after a blank line and before a header. A quoted line (``>From ``) loses one ``>``, as it gets one here
(mboxrd), so all bytes come back. The blank line before the next mail belongs to the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Final

from svc.clock import SECOND_MS, Millis

MAX_MAIL_BYTES: Final = 100 * 1024 * 1024
"""Limit for one mail. A longer one is skipped, and never held in memory."""
PIECE_BYTES: Final = 256 * 1024
"""Bytes read at a time."""
MAX_ENVELOPE_BYTES: Final = 1_024
AHEAD_BYTES: Final = 1_024
"""Bytes that are looked at after a line without a date: two lines of a header."""

_FROM: Final = b"From "
_MONTH: Final = rb"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_ENVELOPE: Final = re.compile(
    rb"From (?:.*\s)?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\s+"
    rb"(?:" + _MONTH + rb"\s+(\d{1,2})|(\d{1,2})\s+" + _MONTH + rb")\s(.*)"
)
_TIME: Final = re.compile(rb"(?<!\d)(\d{1,2}):(\d\d)(?::(\d\d))?(?!\d)")
_YEAR: Final = re.compile(rb"(?<![+\-\d])(\d{4})(?!\d)")
_ZONE: Final = re.compile(rb"\s([+-])(\d\d)(\d\d)(?!\d)")
_UNDATED: Final = re.compile(rb"From +(?:-|[^\s@]+@[^\s@]+)?[ \t]*\r?\n")
_HEADER: Final = re.compile(rb"[!-9;-~]+:[^\n]*(?:\n(?:[!-9;-~]+:|[ \t])|$)")
"""The beginning of a header: a field and the beginning of another line of it. Or a field that is cut off."""
_QUOTED: Final = re.compile(rb"^>(>*From )", re.MULTILINE)
_TO_QUOTE: Final = re.compile(rb"^(>*From )", re.MULTILINE)
_ADDRESS: Final = re.compile(r"[!-~]{1,320}")
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Mail:
    """``at``: the date on its envelope line."""

    raw: bytes
    at: Millis | None


@dataclass(frozen=True)
class TooLong:
    """A mail that was skipped, with its size in bytes."""

    size: int


def envelope_date(line: bytes) -> Millis | None:
    """The date of a line that begins a mail, ``None`` for any other line. A date without a zone counts as UTC."""
    if not line.startswith(b"From ") or len(line) > MAX_ENVELOPE_BYTES:
        return None
    found = _ENVELOPE.match(line)
    if found is None:
        return None
    time, year, zone = _TIME.search(found[5]), _YEAR.search(found[5]), _ZONE.search(found[5])
    if time is None or year is None:
        return None
    month = _MONTHS.index((found[1] or found[4]).decode()) + 1
    try:
        at = datetime(
            int(year[1]), month, int(found[2] or found[3]), int(time[1]), int(time[2]), int(time[3] or 0), tzinfo=UTC
        )
    except ValueError:
        return None
    ahead = (int(zone[2]) * 60 + int(zone[3])) * (-1 if zone[1] == b"-" else 1) if zone else 0
    return (round(at.timestamp()) - ahead * 60) * SECOND_MS


def is_mbox(head: bytes) -> bool:
    """Whether a file that begins like this is an mbox. ``head``: two thousand bytes of it, or all."""
    head = head.lstrip(b"\r\n")
    line, end, after = head.partition(b"\n")
    return envelope_date(line.rstrip(b"\r")) is not None or _begins(line + end, after[:AHEAD_BYTES])


def _begins(line: bytes, ahead: bytes) -> bool:
    """Whether a line without a date begins a mail, by what comes after it."""
    return _UNDATED.fullmatch(line) is not None and _HEADER.match(ahead) is not None


def mails(stream: IO[bytes], *, limit: int = MAX_MAIL_BYTES) -> Iterator[Mail | TooLong]:
    """Each mail of an mbox, in order, unquoted. Text before the first envelope line is no mail."""
    held: bytearray | None = None  # one buffer: many short lines as objects would take fifty times the memory
    size = 0
    at: Millis | None = None
    last = b"\n\n"  # the last bytes before the piece
    for piece, ahead in _pieces(stream):
        dated = None if ahead is None else envelope_date(piece.rstrip(b"\r\n"))
        after_blank_line = last.endswith((b"\n\n", b"\n\r\n"))
        last = (last + piece[-3:])[-3:]
        if dated is not None or (ahead is not None and after_blank_line and _begins(piece, ahead)):
            if held is not None:
                yield _mail(held, size, limit, at)
            held, size, at = bytearray(), 0, dated
        elif held is not None:
            size += len(piece)
            if size <= limit:
                held += piece
            else:
                held = bytearray()
    if held is not None:
        yield _mail(held, size, limit, at)


def _pieces(stream: IO[bytes]) -> Iterator[tuple[bytes, bytes | None]]:
    """The whole stream in pieces. A line that begins with ``From `` is a piece of its own, and comes with the bytes
    after it, as far as they are needed; with any other piece comes ``None``."""
    read = getattr(stream, "read1", stream.read)  # one read at a time: data before an error is not lost
    data, at_start = b"", True  # data not yielded yet, and whether it begins a line
    while True:
        more = read(PIECE_BYTES)
        data += more
        position = 0
        while True:
            if not (at_start and data.startswith(_FROM, position)):
                start = data.find(b"\n" + _FROM, position) + 1
                if not start:
                    break
                yield data[position:start], None
                position, at_start = start, True
            end = data.find(b"\n", position) + 1
            if not end and more and len(data) - position <= MAX_ENVELOPE_BYTES:
                break  # the line may continue
            end = end or len(data)
            if more and len(data) - end < AHEAD_BYTES and _UNDATED.fullmatch(data, position, end):
                break  # what follows is needed
            yield data[position:end], data[end : end + AHEAD_BYTES]
            position, at_start = end, data.endswith(b"\n", 0, end)
        if not more:
            if position < len(data):
                yield data[position:], b"" if at_start and data.startswith(_FROM, position) else None
            return
        kept = position
        if not (at_start and data.startswith(_FROM, position)):
            kept = max(position, len(data) - len(_FROM))  # the last bytes may be the beginning of such a line
        if kept > position:
            yield data[position:kept], None
            at_start = data.endswith(b"\n", 0, kept)
        data = data[kept:]


def entry(raw: bytes, *, sender: str, at: Millis) -> bytes:
    """One mail in the form of mbox. ``raw`` ends with a line end, so that the blank line after it is recognized."""
    address = sender if _ADDRESS.fullmatch(sender) else "-"
    when = datetime.fromtimestamp(at // 1_000, tz=UTC)
    date = f"{_DAYS[when.weekday()]} {_MONTHS[when.month - 1]} {when.day:2} {when:%H:%M:%S} {when.year:04}"
    return f"From {address} {date}\n".encode("ascii") + _TO_QUOTE.sub(rb">\1", raw) + b"\n"


def _mail(held: bytearray, size: int, limit: int, at: Millis | None) -> Mail | TooLong:
    if size > limit:
        return TooLong(size)
    raw = bytes(held)
    held.clear()
    return Mail(_QUOTED.sub(rb"\1", _without_blank_line(raw)), at)


def _without_blank_line(raw: bytes) -> bytes:
    """The mail without the blank line, which may be LF or CRLF. A mail whose own lines end differently keeps its last
    line end."""
    if raw.endswith(b"\n\n"):
        return raw[:-1]
    return raw[:-2] if raw.endswith(b"\n\r\n") else raw
