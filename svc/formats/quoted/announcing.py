"""Finds the line that announces a quotation: "On Monday, Ann wrote:", in the words of many programs and languages.

The announcement may be broken into two or three lines. Whether it is one depends on the text after it, because people
also write "he wrote:" themselves; the caller checks that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

MAX_CHARS: Final = 400
MAX_LINES: Final = 3

_VERBS: Final = (
    *("wrote", "writes", "schrieb", "schreibt", "a écrit", "ecrit", "écrit", "escribió", "escribio", "ha scritto"),
    *("schreef", "geschreven", "escreveu", "skrev", "skrifaði", "kirjoitti", "kirjutas", "napisał", "napisał(a)"),
    *("napsal", "napsal(a)", "napísal", "napísal(a)", "написал", "написал(а)", "написала", "пишет", "пише", "написав"),
    *("yazdı", "ezt írta", "a scris", "έγραψε", "כתב", "كتب", "đã viết", "เขียนว่า", "님이 작성", "작성함"),
    *("写道", "寫道", "さんは書きました", "は書きました", "のメール", "のメッセージ"),
)
_NEEDS_NO_COLON: Final = ("は書きました", "は書きました。", "のメール", "님이 작성")
_OPENINGS: Final = ("on ", "am ", "le ", "el ", "il ", "op ", "em ", "den ", "der ", "dnia ", "dne ", "în ", "w dniu ")
_COLONS: Final = (":", "：")
_ENDINGS: Final = frozenset(one[-1] for one in (*_COLONS, *_NEEDS_NO_COLON))
"""A quick check: nearly every line is ruled out by its last character. Lower case does not change these characters."""
_ASCII_DIGIT: Final = re.compile("[0-9]")
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_TIME: Final = re.compile(r"\d[:.h]\d\d")
_ADDRESS: Final = re.compile(r"[<(\[](?:mailto:)?[^\s<>@]{1,64}@[^\s<>@]{1,255}[>)\]]")


def announces(line: str) -> bool:
    """Whether this line, or the two or three lines joined in it, has the form of an announcement."""
    line = line.strip()
    if not 4 < len(line) <= MAX_CHARS or line[-1] not in _ENDINGS:
        return False
    words = line.casefold()
    if not words.endswith(_COLONS):
        return words.endswith(_NEEDS_NO_COLON)
    words = words[:-1].rstrip()
    if words.endswith(_VERBS):
        return True
    if any(verb in words for verb in _VERBS) and (words.startswith(_OPENINGS) or _has_digit(words)):
        return True
    return "@" in words and bool(_YEAR.search(words)) and bool(_TIME.search(words))


def names_its_writer(line: str) -> bool:
    """Whether it also has an address and a date, as programs write it, and people hardly ever do."""
    return bool(_ADDRESS.search(line[:MAX_CHARS])) and _has_digit(line[:MAX_CHARS])


def announced(lines: Sequence[str], at: int) -> int:
    """The number of lines from ``at`` that make one announcement; 0 if they make none."""
    joined = ""
    for count in range(1, MAX_LINES + 1):
        if at + count > len(lines):
            return 0
        line = lines[at + count - 1][: MAX_CHARS + 1].strip()
        if not line:
            return 0
        joined = f"{joined} {line}".strip()
        if len(joined) > MAX_CHARS:
            return 0
        if announces(joined):
            return count
        if count == 1 and not _has_digit(line):
            return 0  # a broken one has a date in its first line; otherwise that line is a person's own text
    return 0


def _has_digit(line: str) -> bool:
    return _ASCII_DIGIT.search(line) is not None if line.isascii() else any(map(str.isdigit, line))
