"""Cuts a header block into fields (RFC 5322 section 2.2), and reads a field's parameters (RFC 2045 section 5.1, RFC
2231).

Works on bytes and offsets; a value stays raw until it is asked for. Limited in bytes and fields; the caller skips what
is beyond the limits. Never raises.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from svc.formats.mime.charsets import decode
from svc.formats.mime.model import MAX_HEADER_BYTES, MAX_HEADER_FIELDS, MAX_PARAMETERS, Problems
from svc.formats.mime.words import decode_words

_FIELD: Final = re.compile(rb"([!-9;-~]+)[ \t]*:")
_WHOLE_FIELD: Final = re.compile(rb"([!-9;-~]+)[ \t]*:([^\r\n]*+(?:\r?\n[ \t][^\r\n]*+)*+)\r?\n")
_ENVELOPE_LINE: Final = re.compile(rb">?From ")
"""A line that an mbox file, and some programs that export from one, put before a message."""

_PIECE: Final = re.compile(r'(?:[^;"]+|"[^"\\]*(?:\\.[^"\\]*)*"?)+', re.DOTALL)
_QUOTED: Final = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"?', re.DOTALL)
_ESCAPED: Final = re.compile(r'\\(["\\])')
_MEDIA_TYPE: Final = re.compile(r"\s*([\w!#$&^.+-]{1,63}/[\w!#$&^.+-]{1,63})(.*)", re.ASCII | re.DOTALL)
_SEGMENT: Final = re.compile(r"([^*]+)(?:\*([0-9]{1,3}))?(\*)?")


@dataclass
class Fields:
    """The fields of one header block, raw and unfolded, by lower-case name, in order."""

    values: dict[str, list[bytes]] = field(default_factory=dict)
    count: int = 0

    def first(self, name: str) -> bytes:
        """``b""`` if there is none."""
        found = self.values.get(name)
        return found[0] if found else b""

    def all(self, name: str) -> list[bytes]:
        return self.values.get(name, [])


@dataclass(frozen=True)
class HeaderBlock:
    """``body_start``: where the next part of the message begins; it is after the empty line if ``complete``."""

    fields: Fields
    body_start: int
    complete: bool


def read_fields(raw: bytes, start: int, *, is_delimiter: Callable[[bytes], bool], problems: Problems) -> HeaderBlock:
    """The header block at ``start``. It ends at an empty line, a delimiter, a line that can't belong to a header, or a
    limit."""
    return _regular_fields(raw, start) or _read_lines(raw, start, is_delimiter=is_delimiter, problems=problems)


def _regular_fields(raw: bytes, start: int) -> HeaderBlock | None:
    """Reads a block of the common form quickly: only fields up to an empty line, within the limits. ``None`` for any
    other block, which is then read line by line."""
    fields = Fields()
    position = start
    if _ENVELOPE_LINE.match(raw, start) and not _FIELD.match(raw, start):
        position = raw.find(b"\n", start) + 1
    while match := _WHOLE_FIELD.match(raw, position):
        name, value = match.groups()
        if name.startswith(b"--"):
            return None  # it may be a delimiter
        fields.count += 1
        value = value.replace(b"\r\n", b"").replace(b"\n", b"").strip()
        fields.values.setdefault(name.decode("ascii").lower(), []).append(value)
        position = match.end()
        if fields.count == MAX_HEADER_FIELDS:
            return None
    empty = 1 if raw.startswith(b"\n", position) else 2 if raw.startswith(b"\r\n", position) else 0
    position += empty
    if not empty or not fields.count or position - start > MAX_HEADER_BYTES:
        return None
    return HeaderBlock(fields, position, complete=True)


def _read_lines(raw: bytes, start: int, *, is_delimiter: Callable[[bytes], bool], problems: Problems) -> HeaderBlock:
    reader = _Reader(raw, problems)
    position = start
    while position < len(raw):
        line_end = raw.find(b"\n", position) + 1 or len(raw)
        if line_end - start > MAX_HEADER_BYTES or reader.fields.count > MAX_HEADER_FIELDS:
            problems.add(f"header cut after {MAX_HEADER_BYTES} bytes or {MAX_HEADER_FIELDS} fields")
            return HeaderBlock(reader.finish(), position, complete=False)
        line = raw[position:line_end].rstrip(b"\r\n")
        if not line:
            return HeaderBlock(reader.finish(), line_end, complete=True)
        if line.startswith(b"--") and is_delimiter(line):
            break
        if not reader.take(line, line_end=line_end):
            problems.add("header without an empty line after it")
            break
        position = line_end
    return HeaderBlock(reader.finish(), position, complete=True)


class _Reader:
    """Joins folded lines to fields."""

    def __init__(self, raw: bytes, problems: Problems) -> None:
        self.fields = Fields()
        self._raw = raw
        self._problems = problems
        self._name = ""
        self._lines: list[bytes] = []

    def take(self, line: bytes, *, line_end: int) -> bool:
        """False if ``line`` is no header line, so the body must have begun. The next line is at ``line_end``."""
        if line[0] in b" \t":
            self._lines.append(line)
        elif match := _FIELD.match(line):
            self.finish()
            self._name = match[1].decode("ascii").lower()
            self._lines = [line[match.end() :]]
        elif _ENVELOPE_LINE.match(line):
            self.finish()
        elif self.fields.count and _FIELD.match(self._raw, line_end):
            self._problems.add("line without a colon in the header")
        else:
            return False
        return True

    def finish(self) -> Fields:
        if self._name:
            self.fields.count += 1
            if self.fields.count <= MAX_HEADER_FIELDS:
                self.fields.values.setdefault(self._name, []).append(b"".join(self._lines).strip())
        self._name, self._lines = "", []
        return self.fields


def media_type(value: str) -> tuple[str, dict[str, str]]:
    """``type/subtype`` in lower case (``""`` if it can't be read) and the raw parameters."""
    match = _MEDIA_TYPE.match(value)
    if match is None:
        _, _, rest = value.partition(";")
        return "", parameters(rest)
    return match[1].lower(), parameters(match[2])  # "text/plain charset=x" lacks its semicolon; read it all the same


def disposition(value: str) -> tuple[str, dict[str, str]]:
    """The token in lower case (``""`` if there is none) and the raw parameters."""
    token, _, rest = value.partition(";")
    if "=" in token:
        return "", parameters(value)
    return token.strip(" \t\"'").lower(), parameters(rest)


def parameters(text: str) -> dict[str, str]:
    """Raw values by lower-case name; of two with the same name, the first. Segments of RFC 2231 are not joined yet."""
    found: dict[str, str] = {}
    for match in _PIECE.finditer(text):
        if len(found) >= MAX_PARAMETERS:
            break
        name, equals, value = match[0].partition("=")
        if equals:
            found.setdefault(name.strip().lower(), _unquoted(value.strip()))
    return found


def token_of(raw_parameters: Mapping[str, str], name: str) -> str:
    """A parameter without white space, such as a charset: text after a blank is a mistake and dropped."""
    value = raw_parameters.get(name, "").strip("'\" \t")
    return value.split(None, 1)[0] if value else ""


def text_of(raw_parameters: Mapping[str, str], name: str, *, problems: Problems) -> str:
    """A parameter that people read. RFC 2231 (whole or in segments) comes before a plain value; encoded words, as
    Outlook writes them, are read too."""
    segments: dict[int, tuple[str, bool]] = {}
    for key, value in raw_parameters.items():
        match = _SEGMENT.fullmatch(key)
        if match and match[1] == name and (match[2] or match[3]):
            segments.setdefault(int(match[2] or 0), (value, bool(match[3])))
    extended = _joined(segments, problems) if segments else ""
    return decode_words(extended or raw_parameters.get(name, ""), problems=problems)


def _joined(segments: Mapping[int, tuple[str, bool]], problems: Problems) -> str:
    """Bytes are joined before decoding: a character may be split between two segments."""
    charset = ""
    data: list[bytes] = []
    for index in range(len(segments)):
        if index not in segments:
            break
        value, encoded = segments[index]
        if encoded and index == 0 and value.count("'") >= 2:
            charset, _, value = value.split("'", 2)
        data.append(urllib.parse.unquote_to_bytes(value) if encoded else value.encode("utf-8", "replace"))
    return decode(b"".join(data), charset, problems=problems)


def _unquoted(value: str) -> str:
    """Only a quote and a backslash count as escaped, because a Windows path in quotes is not meant as escapes."""
    match = _QUOTED.match(value)
    return _ESCAPED.sub(r"\1", match[1]) if match else value
