"""Finds the line from which on a mail says nothing new: the final quotation, the signature, the answered mail.

Only the end of a mail folds, and in one piece: if answers are written between quotations, the last quotation folds, and
a mail with its answer below the quotation is shown whole. A forwarded mail is not folded, nor a mail of which nothing
would be left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from svc.formats.quoted.announcing import announced, names_its_writer
from svc.formats.quoted.marks import begins_header_of_mail, is_forward, is_ordinary, is_original, is_ruler

MAX_LINE_CHARS: Final = 400
"""Characters at the beginning of each line that are looked at."""
MAX_LINES: Final = 20_000
"""A text of more lines is shown whole."""
MAX_SIGNATURE_LINES: Final = 24
MAX_FOOTER_LINES: Final = 8
LOOKED_AHEAD: Final = 4
MIN_RULER_CHARS: Final = 5
MIN_FOOTER_RULER_CHARS: Final = 30

_SIGNATURE: Final = re.compile(r"-- ?\r?")
_VERSION: Final = re.compile(r"\d{1,4}\.\d{1,6}[\w.\-+]{0,40}")
"""The version that git writes below the two dashes of a patch."""
_PATCH: Final = re.compile(r"(?:diff --git |@@ -\d{1,9}(?:,\d{1,9})? \+\d)")


def folds_from(text: str) -> int | None:
    """The number of the line, from 0, from which on a plain text folds; ``None`` if it does not."""
    lines = [line[:MAX_LINE_CHARS] for line in text.split("\n", MAX_LINES)]
    return folds_at(lines, [line.lstrip().startswith(">") for line in lines])


def folds_at(lines: Sequence[str], quoted: Sequence[bool]) -> int | None:
    """The same for lines for which it is known whether they are ``quoted``. It is never 0."""
    if len(lines) > MAX_LINES:
        return None
    old = _Scan(lines, quoted).old()
    at = len(lines)
    while at and (old[at - 1] or _says_nothing(lines[at - 1])):
        at -= 1
    while at < len(lines) and not lines[at].strip():
        at += 1
    if True not in old[at:] or all(map(is_ruler, (line.strip() for line in lines[:at]))):
        return None
    return at


def _says_nothing(line: str) -> bool:
    line = line.strip()
    return not line or (len(line) >= MIN_RULER_CHARS and is_ruler(line))


class _Scan:
    def __init__(self, lines: Sequence[str], quoted: Sequence[bool]) -> None:
        self.lines = lines
        self.quoted = quoted
        self.is_patch = any(_PATCH.match(line) for line in lines)
        self.marks = [False] * len(lines)

    def old(self) -> list[bool]:
        """For each line, whether it repeats an earlier mail, or belongs to a signature."""
        at = 0
        while at < len(self.lines):
            line = self.lines[at].strip()
            if self.quoted[at]:
                self.marks[at] = True
                at += 1
            elif not line or is_ordinary(line):
                at += 1
            elif is_forward(line):
                break
            elif is_original(line) or begins_header_of_mail(self.lines, at):
                return self._all_from(at)
            elif count := announced(self.lines, at):
                whole = " ".join(self.lines[at : at + count])
                if self._quotes_next(at + count):
                    self.marks[at : at + count] = [True] * count
                elif names_its_writer(whole):  # by a program that does not mark quoted lines
                    return self._all_from(at)
                at += count
            else:
                count = self._signature(at) or self._footer(at) or 0
                self.marks[at : at + count] = [True] * count
                at += count or 1
        return self.marks

    def _all_from(self, at: int) -> list[bool]:
        self.marks[at:] = [True] * (len(self.lines) - at)
        return self.marks

    def _quotes_next(self, at: int) -> bool:
        until = min(at + LOOKED_AHEAD, len(self.lines))
        following = next((one for one in range(at, until) if self.lines[one].strip()), None)
        return following is not None and self.quoted[following]

    def _signature(self, at: int) -> int:
        """The number of lines of a signature that begins here: up to a quotation, or to the end. 0 if there is none."""
        if self.is_patch or not _SIGNATURE.fullmatch(self.lines[at]):
            return 0
        if at + 1 < len(self.lines) and _VERSION.fullmatch(self.lines[at + 1].strip()):
            return 0
        return self._to_the_end(at, MAX_SIGNATURE_LINES)

    def _footer(self, at: int) -> int:
        """The number of lines that a mailing list added: a long ruler, and the list's address. 0 if there are none."""
        line = self.lines[at].strip()
        if len(line) < MIN_FOOTER_RULER_CHARS or line.strip("_"):
            return 0
        count = self._to_the_end(at, MAX_FOOTER_LINES)
        is_lists = any("://" in one or "@" in one for one in self.lines[at + 1 : at + count])
        return count if is_lists and at + count == len(self.lines) else 0

    def _to_the_end(self, at: int, limit: int) -> int:
        said = 0
        for end in range(at + 1, len(self.lines)):
            line = self.lines[end].strip()
            if self.quoted[end] or is_forward(line) or is_original(line) or announced(self.lines, end):
                return end - at
            said += bool(line)
            if said > limit or end - at > 3 * limit or _SIGNATURE.fullmatch(self.lines[end]):
                return 0
        return len(self.lines) - at
