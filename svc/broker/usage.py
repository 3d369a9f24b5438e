"""How many tokens an answer reports as used: read from the bytes that pass, streamed or whole, for both vendors.

Vendor A reports it in ``message_start`` (input) and ``message_delta`` (output so far); vendor B in the last chunk, if
it was asked to, or in ``response.completed``. Whole answers of both have ``usage``. A missing number stays unknown, and
so does one that can't be true; nothing is estimated. Bounded: a line, or a whole answer, that is too long is not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

import msgspec

MAX_LINE_BYTES: Final = 1 << 20
MAX_WHOLE_BYTES: Final = 8 << 20
MOST_TOKENS: Final = 100_000_000
"""No answer uses more. Counts below zero or above this are ignored: they would lift a ceiling, or reach it for good."""
EVENT_STREAM: Final = "text/event-stream"

_DATA: Final = b"data:"
_USAGE: Final = b'"usage"'


@dataclass(frozen=True, slots=True)
class Usage:
    """``None``: the vendor did not report it."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def is_known(self) -> bool:
        return self.input_tokens is not None or self.output_tokens is not None

    def updated(self, later: Usage) -> Usage:
        return Usage(
            self.input_tokens if later.input_tokens is None else later.input_tokens,
            self.output_tokens if later.output_tokens is None else later.output_tokens,
        )


class UsageReader(Protocol):
    """Gets each piece of an answer, and its end."""

    def feed(self, piece: bytes) -> None: ...

    def result(self) -> Usage:
        """The usage reported so far."""
        ...


def reader_for(content_type: str) -> UsageReader:
    return StreamReader() if content_type.partition(";")[0].strip().lower() == EVENT_STREAM else WholeReader()


class StreamReader:
    """Reads server-sent events line by line. Only lines that mention usage are parsed."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._skipping = False
        self._usage = Usage()

    def feed(self, piece: bytes) -> None:
        *ended, rest = piece.replace(b"\r", b"\n").split(b"\n")
        for part in ended:
            self._take(part)
            self._read()
        self._take(rest)

    def result(self) -> Usage:
        self._read()
        return self._usage

    def _take(self, part: bytes) -> None:
        if self._skipping or len(self._line) + len(part) > MAX_LINE_BYTES:
            self._skipping = True
            self._line.clear()
        else:
            self._line += part

    def _read(self) -> None:
        line, self._skipping = bytes(self._line), False
        self._line.clear()
        if line.startswith(_DATA) and _USAGE in line:
            self._usage = self._usage.updated(_said(line[len(_DATA) :]))


class WholeReader:
    """Reads one JSON document."""

    def __init__(self) -> None:
        self._body = bytearray()
        self._too_long = False

    def feed(self, piece: bytes) -> None:
        self._too_long = self._too_long or len(self._body) + len(piece) > MAX_WHOLE_BYTES
        if self._too_long:
            self._body.clear()
        else:
            self._body += piece

    def result(self) -> Usage:
        return _said(bytes(self._body)) if _USAGE in self._body else Usage()


Count = int | None


class _Counts(msgspec.Struct):
    """The field names of both vendors. Tokens that vendor A read from its cache, or wrote to it, count as
    input, too.
    """

    input_tokens: Count = None
    cache_creation_input_tokens: Count = None
    cache_read_input_tokens: Count = None
    output_tokens: Count = None
    prompt_tokens: Count = None
    completion_tokens: Count = None
    total_tokens: Count = None

    def usage(self) -> Usage:
        went_in, came_out = self._reported()
        return Usage(_believed(went_in), _believed(came_out))

    def _reported(self) -> tuple[Count, Count]:
        if self.input_tokens is not None:
            went_in = self.input_tokens + (self.cache_creation_input_tokens or 0) + (self.cache_read_input_tokens or 0)
            return went_in, self.output_tokens
        if self.prompt_tokens is not None and self.completion_tokens is None and self.total_tokens is not None:
            return self.prompt_tokens, self.total_tokens - self.prompt_tokens  # embeddings
        return self.prompt_tokens, self.completion_tokens if self.output_tokens is None else self.output_tokens


def _believed(count: Count) -> Count:
    return count if count is not None and 0 <= count <= MOST_TOKENS else None


class _Within(msgspec.Struct):
    usage: _Counts | None = None


class _Said(msgspec.Struct):
    """``message``: of ``message_start``, whose output count is only a start value. ``response``: vendor B's."""

    usage: _Counts | None = None
    message: _Within | str | None = None
    response: _Within | str | None = None


def _said(data: bytes) -> Usage:
    try:
        said = msgspec.json.decode(data, type=_Said)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Usage()
    if said.usage is not None:
        return said.usage.usage()
    if isinstance(said.response, _Within) and said.response.usage is not None:
        return said.response.usage.usage()
    if isinstance(said.message, _Within) and said.message.usage is not None:
        return Usage(input_tokens=said.message.usage.usage().input_tokens)
    return Usage()
