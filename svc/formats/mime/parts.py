"""Cuts a message into its parts (RFC 2046 section 5.1): one pass over the bytes, no recursion, no copies.

The theory. At any moment a few multiparts are open, the outermost first, each with a boundary. A line of two hyphens
and one of these boundaries ends every part inside that multipart, even those that wait for their own end; so a missing
end of an inner multipart does no harm. Text before the first and after the last delimiter of a multipart belongs to no
part. The number of parts, their depth and the lines looked at are limited; nothing beyond the limits is looked into.
``message/rfc822`` is a leaf: a message within a message is kept whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from svc.formats.mime.fields import Fields, disposition, media_type, read_fields, token_of
from svc.formats.mime.model import MAX_BOUNDARY_BYTES, MAX_DELIMITER_CANDIDATES, MAX_DEPTH, MAX_PARTS, Problems
from svc.formats.mime.words import header_text

_GUESSED_BOUNDARY: Final = re.compile(rb"^--([^\r\n]{1,256}?)[ \t]*\r?\ncontent-", re.IGNORECASE | re.MULTILINE)
_BLANKS: Final = b" \t\r\n"
"""Ignored when boundaries are compared, because folding and unfolding add and remove some."""
GUESS_WINDOW_BYTES: Final = 64 * 1024
"""How far after the header of a multipart without a boundary its first delimiter is searched."""


@dataclass
class Part:
    """One part. ``start`` and ``end`` span its body in the raw bytes; ``children`` are the parts of a multipart, in
    order."""

    fields: Fields
    mime: str
    parameters: dict[str, str]
    disposition: str
    disposition_parameters: dict[str, str]
    start: int
    end: int
    depth: int
    children: list[Part] = field(default_factory=list)

    @property
    def is_multipart(self) -> bool:
        return self.mime.startswith("multipart/")

    @property
    def too_deep(self) -> bool:
        return self.is_multipart and self.depth >= MAX_DEPTH


@dataclass(frozen=True)
class _Delimiter:
    """The line of a boundary: ``start`` is where the body before it ends, ``end`` where the next line begins."""

    start: int
    end: int
    level: int
    closing: bool


def split_parts(raw: bytes, *, problems: Problems) -> Part:
    """The root part, which contains all others."""
    return _Splitter(raw, problems).split()


def header_only(raw: bytes, *, problems: Problems) -> Part:
    """Only the root part; its body is not looked at."""
    return _Splitter(raw, problems).read(0)[0]


class _Splitter:
    def __init__(self, raw: bytes, problems: Problems) -> None:
        self._raw = raw
        self._problems = problems
        self._open: list[tuple[Part, bytes]] = []
        self._levels: dict[bytes, int] = {}
        self._candidates_left = MAX_DELIMITER_CANDIDATES
        self._count = 0

    def split(self) -> Part:
        root, position = self.read(0)
        part: Part | None = root
        while True:
            if part is not None and part.is_multipart:
                self._enter(part)
            delimiter = self._next_delimiter(position)
            if part is not None:
                part.end = max(part.start, len(self._raw) if delimiter is None else delimiter.start)
            if delimiter is None:
                return root
            position = delimiter.end
            self._leave(down_to=delimiter.level if delimiter.closing else delimiter.level + 1)
            if delimiter.closing:
                part = None
                continue
            if self._count >= MAX_PARTS:
                self._problems.add(f"cut after {MAX_PARTS} parts")
                return root
            part, position = self.read(position)

    def read(self, start: int) -> tuple[Part, int]:
        """The part whose header begins at ``start``, added to the innermost open multipart; and where its body
        begins."""
        self._count += 1
        block = read_fields(self._raw, start, is_delimiter=self._is_delimiter, problems=self._problems)
        body_start = block.body_start if block.complete else self._body_after_long_header(block.body_start)
        parent = self._open[-1][0] if self._open else None
        part = _part(block.fields, body_start, parent=parent, problems=self._problems)
        if parent is not None:
            parent.children.append(part)
        return part, body_start

    def _body_after_long_header(self, position: int) -> int:
        delimiter = self._next_delimiter(position)
        limit = len(self._raw) if delimiter is None else delimiter.start + 1
        found = [
            (at, len(blank)) for blank in (b"\n\n", b"\n\r\n") if (at := self._raw.find(blank, position, limit)) >= 0
        ]
        return sum(min(found)) if found else limit

    def _enter(self, part: Part) -> None:
        boundary = self._boundary_of(part)
        if part.too_deep:
            self._problems.add(f"kept whole below depth {MAX_DEPTH}")
        elif boundary:
            self._open.append((part, boundary))
            self._levels[boundary] = len(self._open) - 1
        else:
            self._problems.add("multipart without a boundary")

    def _boundary_of(self, part: Part) -> bytes:
        boundary = part.parameters.get("boundary", "").encode("utf-8", "replace").translate(None, _BLANKS)
        if not boundary:
            match = _GUESSED_BOUNDARY.search(self._raw[part.start : part.start + GUESS_WINDOW_BYTES])
            boundary = match[1].translate(None, _BLANKS) if match else b""
            if boundary in self._levels:
                return b""  # the boundary of a multipart around this one
        return boundary if len(boundary) <= MAX_BOUNDARY_BYTES else b""

    def _leave(self, *, down_to: int) -> None:
        if len(self._open) > down_to:
            del self._open[down_to:]
            self._levels = {boundary: level for level, (_, boundary) in enumerate(self._open)}

    def _next_delimiter(self, position: int) -> _Delimiter | None:
        """The first delimiter line that begins at ``position`` (the start of a line) or later."""
        if not self._levels:
            return None
        raw = self._raw
        at = raw.find(b"\n--", max(position - 1, 0))
        while at >= 0:
            if self._candidates_left <= 0:
                self._problems.add(f"not searched for boundaries after {MAX_DELIMITER_CANDIDATES} lines")
                return None
            self._candidates_left -= 1
            line_end = raw.find(b"\n", at + 3)
            if line_end < 0:
                line_end = len(raw)
            found = self._match(raw[at + 1 : min(line_end, at + MAX_BOUNDARY_BYTES + 8)])
            if found is not None:
                start = at - 1 if at > 0 and raw[at - 1] == 0x0D else at
                return _Delimiter(start, min(line_end + 1, len(raw)), *found)
            at = raw.find(b"\n--", line_end)
        return None

    def _is_delimiter(self, line: bytes) -> bool:
        return self._match(line[: MAX_BOUNDARY_BYTES + 8]) is not None

    def _match(self, line: bytes) -> tuple[int, bool] | None:
        """The level of the multipart whose delimiter ``line`` is, and whether the line closes it."""
        token = line[2:].translate(None, _BLANKS)
        level = self._levels.get(token)
        if level is not None:
            return level, False
        level = self._levels.get(token[:-2]) if token.endswith(b"--") else None
        return None if level is None else (level, True)


def _part(fields: Fields, body_start: int, *, parent: Part | None, problems: Problems) -> Part:
    text = partial(header_text, problems=problems)
    mime, parameters = media_type(text(fields.first("content-type")))
    token, disposition_parameters = disposition(text(fields.first("content-disposition")))
    if not mime:
        if fields.first("content-type"):
            problems.add("unreadable content type")
        is_digest = parent is not None and parent.mime == "multipart/digest"
        mime = "message/rfc822" if is_digest else "text/plain"
    return Part(
        fields=fields,
        mime=mime,
        parameters=parameters,
        disposition=token,
        disposition_parameters=disposition_parameters,
        start=body_start,
        end=body_start,
        depth=0 if parent is None else parent.depth + 1,
    )


def transfer_encoding(part: Part) -> str:
    return part.fields.first("content-transfer-encoding").decode("ascii", "replace")


def charset_of(part: Part) -> str:
    return token_of(part.parameters, "charset")
