"""The log: one record per line, for machines (JSON) or people (readable), without secrets.

Owns the form of a record and what is left out of it. Writing a record never raises, and a stranger's text can never
begin a line of its own. There is no global log: code that logs was given a :class:`Log`.

Two rules hold secrets back. A field whose *name* is that of a secret is never shown; in every other text, what *looks
like* a secret is cut out. Names such as ``code`` and ``state`` mean OAuth's here: call other things ``reason`` or
``phase``.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import traceback
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, Protocol

from svc.clock import Clock, Millis, rfc3339

Level = Literal["debug", "info", "warning", "error"]
Form = Literal["json", "readable"]

REDACTED: Final = "********"
TEXT_MAX_CHARS: Final = 4_096
TRACEBACK_MAX_CHARS: Final = 32_768
_MARGIN_CHARS: Final = 512
ITEMS_MAX: Final = 50
DEPTH_MAX: Final = 4
TROUBLES_KEPT: Final = 50
DETAIL_MAX_CHARS: Final = 500

_RANK: Final[Mapping[str, int]] = MappingProxyType({"debug": 0, "info": 1, "warning": 2, "error": 3})
_EVENT_WIDTH: Final = 28
_COLOURS: Final[Mapping[str, str]] = MappingProxyType(
    {"debug": "\x1b[2m", "info": "\x1b[36m", "warning": "\x1b[33m", "error": "\x1b[31m"}
)
_COLOUR_OFF: Final = "\x1b[0m"


class Sink(Protocol):
    """The output for records; any text stream fits."""

    def write(self, text: str, /) -> object: ...

    def flush(self) -> object: ...

    def isatty(self) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """A warning or an error of this process, as the log shows it. ``detail``: its fields in one line."""

    at: Millis
    level: Level
    event: str
    detail: str


class Log:
    """Writes records of ``level`` and above to ``sink``; ``bind`` returns a log that adds fields to each record.

    ``troubles`` are the last warnings and errors, the newest last. All logs bound from one log share them.
    """

    def __init__(
        self,
        sink: Sink,
        *,
        readable: bool,
        clock: Clock,
        level: Level = "info",
        fields: Mapping[str, object] | None = None,
        troubles: deque[Trouble] | None = None,
    ) -> None:
        self.troubles: deque[Trouble] = deque(maxlen=TROUBLES_KEPT) if troubles is None else troubles
        self._sink = sink
        self._readable = readable
        self._clock = clock
        self._level: Level = level
        self._fields = dict(fields or {})
        self._coloured = readable and _wants_colour(sink)

    @classmethod
    def to_stderr(cls, *, form: str | None, clock: Clock, level: Level = "info") -> Log:
        """The log of the service. Without ``form``: readable on a terminal, JSON elsewhere."""
        readable = form == "readable" if form else sys.stderr.isatty()
        return cls(sys.stderr, readable=readable, clock=clock, level=level)

    def bind(self, **fields: object) -> Log:
        """The same log with ``fields`` added to every record (a request id, a task)."""
        return Log(
            self._sink,
            readable=self._readable,
            clock=self._clock,
            level=self._level,
            fields={**self._fields, **fields},
            troubles=self.troubles,
        )

    def wants(self, level: Level) -> bool:
        """Whether a record of ``level`` is written. A caller asks first, to save the work of collecting the fields."""
        return _RANK[level] >= _RANK[self._level]

    def debug(self, event: str, **fields: object) -> None:
        self._record("debug", event, fields)

    def info(self, event: str, **fields: object) -> None:
        self._record("info", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self._record("warning", event, fields)

    def error(self, event: str, error: BaseException | None = None, **fields: object) -> None:
        """Log an error with the whole traceback of ``error``, including groups and causes."""
        self._record("error", event, fields, error)

    def _record(
        self, level: Level, event: str, fields: Mapping[str, object], error: BaseException | None = None
    ) -> None:
        if not self.wants(level):
            return
        shown = {name: _shown(value, name=name) for name, value in {**self._fields, **fields}.items()}
        now = self._clock.now()
        at = rfc3339(now)
        event = _text(event)
        trace = "" if error is None else _traceback(error)
        if error is not None:
            shown["error"] = summary(error)
        if _RANK[level] >= _RANK["warning"]:
            detail = _pairs(shown)[:DETAIL_MAX_CHARS]
            self.troubles.append(Trouble(at=now, level=level, event=_visible(event), detail=detail))
        if self._readable:
            self._write(_readable_lines(at, level, event, shown, trace, coloured=self._coloured))
        else:
            self._write(_json_line(at, level, event, shown, trace))

    def _write(self, record: str) -> None:
        """One write per record. A failing log must not stop the service that it describes."""
        try:
            self._sink.write(record)
            self._sink.flush()
        except UnicodeEncodeError:  # the terminal can't encode the text
            self._write(record.encode("ascii", "backslashreplace").decode("ascii"))
        except (OSError, ValueError):
            pass  # the reader or the stream is closed


def redact(text: str) -> str:
    """``text`` without anything that looks like a secret. Linear in its length."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def summary(error: BaseException) -> str:
    """``ValueError: its message``, bounded and redacted. It works even if ``__str__`` raises."""
    return _text(f"{type(error).__name__}: {_str(error)}")


# What is a secret: by its name, and by its form.

_SECRET_NAMES: Final = frozenset(
    {
        *("token", "tokens", "secret", "secrets", "password", "passwd", "passphrase", "authorization", "credential"),
        *(
            "cookie",
            "cookies",
            "code",
            "ticket",
            "state",
            "nonce",
            "verifier",
            "code_verifier",
            "invite",
            "claim",
            "svc_session",
        ),
        *("key", "api_key", "master_key", "private_key", "session", "assertion", "jwt"),
    }
)
_SECRET_ENDINGS: Final = (
    *("token", "tokens", "secret", "secrets", "password", "cookie", "cookies", "credential", "authorization"),
    *("_key", "_ticket", "_code", "_verifier"),
)
_QUOTED_OR_BARE: Final = r"""(?:b?"(?:[^"\\]|\\.)*+"?|b?'(?:[^'\\]|\\.)*+'?|[^\s"'&,;#<>(){}\[\]]++)"""

_SECRETS: Final = (
    # Headers whose whole value is secret: "Cookie: a=b; c=d", "Authorization: Bearer …".
    (re.compile(r"(?i)((?:cookie|authorization)\s{0,4}:\s{0,4})[^\s\"'][^\r\n\"']*+"), rf"\1{REDACTED}"),
    # name=value and "name": value, in URLs, forms, JSON, reprs and keyword arguments.
    (
        re.compile(
            r"(?i)((?:token|secret|passw(?:or)?d|passphrase|ticket|cookie|authorization|credential|verifier|assertion"
            rf"|svc_session|(?:api|master|private)_key)s?[\"']?\s{{0,4}}[:=]\s{{0,4}})(?!\*){_QUOTED_OR_BARE}"
        ),
        rf"\1{REDACTED}",
    ),
    # The same for words that also have other meanings, only where they are written like a parameter.
    (re.compile(rf"(?i)(\b(?:code|state|nonce|invite|claim|key)=)(?!\*){_QUOTED_OR_BARE}"), rf"\1{REDACTED}"),
    (re.compile(r"\b((?i:bearer)|Basic)\s{1,4}[\w.~+/=-]{8,}+"), rf"\1 {REDACTED}"),
    (re.compile(r"://[^\s/@:]{1,256}:[^\s/@]{1,256}@"), rf"://{REDACTED}@"),
    # Tokens known by their prefix: our devices, Google's, GitHub's, signed JSON, private keys.
    (re.compile(r"sdt_[\w-]++"), f"sdt_{REDACTED}"),
    (re.compile(r"ya29\.[\w.-]++|\b1//[\w-]{16,}+|GOCSPX-[\w-]++|\bgh[oprsu]_\w{20,}+|github_pat_\w++"), REDACTED),
    (re.compile(r"\beyJ[\w.-]{8,}+"), REDACTED),
    (re.compile(r"(-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----)[^-]*+"), rf"\1{REDACTED}"),
)


def _is_secret_name(name: str) -> bool:
    plain = name.lower().replace("-", "_")
    return plain in _SECRET_NAMES or plain.endswith(_SECRET_ENDINGS)


# How values are shown.


def _shown(value: object, *, name: str = "", depth: int = 0) -> object:
    """``value`` in a form that JSON can hold: bounded, redacted, never the object itself."""
    if value is None or isinstance(value, bool):
        return value
    if _is_secret_name(name):
        return REDACTED
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"
    return _shown_other(value, depth=depth)


def _shown_other(value: object, *, depth: int) -> object:
    if isinstance(value, BaseException):
        return summary(value)
    if isinstance(value, Mapping) and depth < DEPTH_MAX:
        items = list(value.items())[:ITEMS_MAX]
        return {_text(str(key)): _shown(item, name=str(key), depth=depth + 1) for key, item in items}
    if isinstance(value, list | tuple | set | frozenset) and depth < DEPTH_MAX:
        return [_shown(item, depth=depth + 1) for item in list(value)[:ITEMS_MAX]]
    return _text(_str(value))


def _text(text: str) -> str:
    # Redact a little more than is shown: a secret that is split by the cut is still recognized.
    shown = redact(text[: TEXT_MAX_CHARS + _MARGIN_CHARS])[:TEXT_MAX_CHARS]
    return shown if len(text) <= TEXT_MAX_CHARS else f"{shown}… ({len(text)} characters)"


def _str(value: object) -> str:
    try:
        return str(value)
    except Exception as fault:  # an edge: the record is written, whatever a stranger's __str__ does
        return f"<{type(value).__name__}, unprintable: {type(fault).__name__}>"


def _traceback(error: BaseException) -> str:
    whole = "".join(traceback.TracebackException.from_exception(error).format()).rstrip("\n")
    if len(whole) > TRACEBACK_MAX_CHARS:
        half = TRACEBACK_MAX_CHARS // 2
        last_lines = whole[-half:].partition("\n")[2]  # from a line's start: no half secrets
        whole = f"{whole[:half]}\n… ({len(whole)} characters)\n{last_lines}"
    return redact(whole)


# The two formats.


def _json_line(at: str, level: Level, event: str, fields: Mapping[str, object], trace: str) -> str:
    record: dict[str, object] = {"at": at, "level": level, "event": event}
    record.update((f"{name}_" if name in record else name, value) for name, value in fields.items())
    if trace:
        record["traceback"] = trace
    return json.dumps(record, separators=(",", ":")) + "\n"  # ASCII only: nothing in it can control a terminal


def _readable_lines(
    at: str, level: Level, event: str, fields: Mapping[str, object], trace: str, *, coloured: bool
) -> str:
    tinted = f"{_COLOURS[level]}{level:<7}{_COLOUR_OFF}" if coloured else f"{level:<7}"
    head = f"{at[11:-1]} {tinted} {_visible(event):<{_EVENT_WIDTH}} {_pairs(fields)}".rstrip()
    lines: Iterable[str] = trace.split("\n") if trace else ()
    return "".join(f"{line}\n" for line in (head, *(f"    | {_visible(line)}" for line in lines)))


def _pairs(fields: Mapping[str, object]) -> str:
    return " ".join(f"{_visible(name)}={_word(value)}" for name, value in fields.items())


def _word(value: object) -> str:
    """The value as one word, or in quotes."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = _visible(text)
    plain = text and not re.search(r'[\s"=]', text)
    if plain or not isinstance(value, str):
        return text
    return '"' + text.replace('"', '\\"') + '"'


_UNSEEN: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def _visible(text: str) -> str:
    """Control, bidirectional and invisible characters as escapes, so that a line stays one line and reads
    as written.
    """
    return _UNSEEN.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    common = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    number = ord(character)
    return common.get(character) or (f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}")


def _wants_colour(sink: Sink) -> bool:
    try:
        return sink.isatty() and not os.environ.get("NO_COLOR")
    except ValueError:  # closed
        return False
