"""Finds the lines of a plain text that need a font of fixed width: patches, hand-drawn tables, ASCII art, code.

Everything else reads better in the normal font of mail, so a block gets a fixed font only if its form shows the need.
Pure, and linear: it looks at the first characters of each line, together with the other lines of its block.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

MAX_LINE_CHARS: Final = 160
"""Characters at the beginning of each line that are looked at."""
MAX_LINES: Final = 5_000
"""In a longer text, no line gets a fixed font."""
MAX_GAPS: Final = 12
"""Gaps between columns of a line that are looked at."""
MAX_LIST_SIGN_CHARS: Final = 3
MIN_BLOCK_LINES: Final = 3
MOST: Final = 0.6
"""The share of a block's lines that must have a form, for the block to count as that form."""
MIN_SIGNS: Final = 0.6
"""The share of signs among the characters of a drawing."""
MIN_CODE: Final = 0.5

_HUNK: Final = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_BEGINS_PATCH: Final = re.compile(r"diff (?:--git |-)|Index: \S|--- \S")
_PATCH_HEAD: Final = re.compile(
    r"diff (?:--git |-)|Index: \S|index [0-9a-f]{7,64}\.\.|(?:---|\+\+\+) \S|(?:new|deleted) file mode \d"
    r"|(?:old|new) mode \d|(?:similarity|dissimilarity) index \d|(?:rename|copy) (?:from|to) |={60}"
)
_STAT: Final = re.compile(r" \S[^|]{0,120}\| +(?:\d{1,7} [+\-]*$|Bin\b)| \d{1,7} files? changed\b")

_BARS: Final = frozenset("|│┃║")
_CORNERS: Final = _BARS | frozenset("+┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬")
_LINE_SIGNS: Final = _CORNERS | frozenset("-=_:.─━═ ")
_RULER_SIGNS: Final = frozenset("-=_*~#+.·•—–─━═<>")
_RUN: Final = re.compile(r"([-=_*~#])\1{7}")
_SIGNS: Final = re.compile(r"[^\w\s]|_")

_GAP: Final = re.compile(r"(?<=\S)(?: {2,}|\t+)(?=\S)")
_SENTENCE_END: Final = frozenset(".?!:\"')")

_CODE_ENDS: Final = frozenset(";{}")
_CODE_BEGINS: Final = re.compile(
    r"#include |#define |def \w{1,80}\(|class \w{1,80}[(:]|(?:for|if|while) \(|return\b.{0,160}[;)]|\}"
    r"|import \w{1,80}(?:\.\w{1,80}){0,8}$|from [\w.]{1,80} import "
)


def fixed_lines(lines: Sequence[str]) -> list[bool]:
    """For each line, whether it needs a fixed font."""
    found = [False] * len(lines)
    if len(lines) > MAX_LINES:
        return found
    looked = [line[:MAX_LINE_CHARS].rstrip() for line in lines]
    for start, end in _patches(looked):
        found[start:end] = [True] * (end - start)
    for start, end in _blocks(looked, found):
        block = looked[start:end]
        if _is_drawn(block) or _has_columns(block) or _is_code(block):
            found[start:end] = [True] * (end - start)
    return found


def _patches(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The lines of each patch. The lines after a possible beginning are read once, whether it is a patch or not."""
    at = 0
    while at < len(lines):
        end, is_patch = _stat(lines, at)
        if end == at:
            end, is_patch = _patch(lines, at)
        if is_patch:
            yield at, end
        at = max(end, at + 1)


def _stat(lines: Sequence[str], at: int) -> tuple[int, bool]:
    """The list of changed files that git puts before a patch: its end, and whether it is such a list."""
    end = at
    while end < len(lines) and _STAT.match(lines[end]):
        end += 1
    return end, end > at and "changed" in lines[end - 1]


def _patch(lines: Sequence[str], at: int) -> tuple[int, bool]:
    """The file headers and hunks that begin here: their end, and whether they are a patch."""
    end, hunks = at, 0
    if _BEGINS_PATCH.match(lines[at]) or _HUNK.match(lines[at]):
        while end < len(lines):
            if hunk := _HUNK.match(lines[end]):
                end = _end_of_hunk(lines, end + 1, old=int(hunk[1] or 1), new=int(hunk[2] or 1))
                hunks += 1
            elif _PATCH_HEAD.match(lines[end]):
                end += 1
            else:
                break
    return end, hunks > 0 or lines[at].startswith("diff --git ")


def _end_of_hunk(lines: Sequence[str], at: int, *, old: int, new: int) -> int:
    """The end of a hunk by the line counts in its header; earlier if the mail was cut or broken."""
    while at < len(lines) and (old > 0 or new > 0):
        sign = lines[at][:1]
        if sign not in ("", " ", "\t", "+", "-", "\\"):
            break
        old -= sign not in ("+", "\\")
        new -= sign not in ("-", "\\")
        at += 1
    return at + (at < len(lines) and lines[at].startswith("\\ No newline"))


def _blocks(lines: Sequence[str], taken: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Groups of lines without an empty line between them."""
    start = None
    for at in range(len(lines) + 1):
        is_part = at < len(lines) and bool(lines[at]) and not taken[at]
        if is_part and start is None:
            start = at
        elif not is_part and start is not None:
            if at - start >= MIN_BLOCK_LINES:
                yield start, at
            start = None


def _is_drawn(block: Sequence[str]) -> bool:
    """Whether it is a box of lines or a picture made of signs. Rulers around words are neither."""
    if sum(1 for line in block if _is_part_of_box(line.strip())) >= max(MIN_BLOCK_LINES, MOST * len(block)):
        return True
    lines = [line for line in block if not _is_ruler(line)]
    text = "".join("".join(lines).split())
    return len(lines) >= MIN_BLOCK_LINES and len(_SIGNS.findall(text)) >= MIN_SIGNS * len(text)


def _is_part_of_box(line: str) -> bool:
    if len(line) < MIN_BLOCK_LINES:
        return False
    is_between_bars = line[0] in _BARS and line[-1] in _BARS
    return is_between_bars or (_LINE_SIGNS.issuperset(line) and not _CORNERS.isdisjoint(line))


def _is_ruler(line: str) -> bool:
    signs = set("".join(line.split()))
    return (len(signs) <= 2 and signs <= _RULER_SIGNS) or _RUN.search(line) is not None


def _has_columns(block: Sequence[str]) -> bool:
    """Whether words begin or end at the same column, after gaps that no sentence has, or are separated by tabs."""
    with_gaps = with_tabs = 0
    columns: Counter[tuple[str, int]] = Counter()
    for line in block:
        gaps = [gap for gap in islice(_GAP.finditer(line), MAX_GAPS) if _parts_columns(line, gap)]
        if gaps:
            with_gaps += 1
            with_tabs += any("\t" in gap[0] for gap in gaps)
            columns.update({("left", gap.end()) for gap in gaps} | {("right", gap.start()) for gap in gaps[1:]})
            columns[("right", len(line))] += 1
    if with_gaps < max(MIN_BLOCK_LINES, MOST * len(block)):
        return False
    return max(*columns.values(), with_tabs) >= max(MIN_BLOCK_LINES, MOST * with_gaps)


def _parts_columns(line: str, gap: re.Match[str]) -> bool:
    """Whether a gap separates columns: not the gap between sentences, after a list or quotation mark, or after a
    header's name."""
    before = line[: gap.start()].strip()
    if len(before) <= MAX_LIST_SIGN_CHARS and not any(map(str.isalpha, before)):
        return False
    if gap[0] == "\t" and before.endswith(":"):
        return False
    return not (gap[0] == "  " and before[-1] in _SENTENCE_END)


def _is_code(block: Sequence[str]) -> bool:
    return sum(map(_is_line_of_code, block)) >= max(MIN_BLOCK_LINES, MIN_CODE * len(block))


def _is_line_of_code(line: str) -> bool:
    return line[-1] in _CODE_ENDS or _CODE_BEGINS.match(line.lstrip()) is not None
