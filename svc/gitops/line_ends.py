"""Line ends and the byte order mark of a file: removed for a page and for merging, and restored afterwards.

A file is read in LF. When it is written again, it gets the line ends that most of its lines had; in a file with mixed
ones, the unchanged lines at its beginning and its end keep theirs. Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Final

_MARK: Final = "\ufeff"


def in_lf(text: str) -> str:
    """The text in LF, as in a page."""
    return text.removeprefix(_MARK).replace("\r\n", "\n")


def as_it_was(text: str, *, before: str) -> str:
    """``text`` (in LF) with the line ends and the byte order mark of ``before``, the file in the repository."""
    mark = _MARK if before.startswith(_MARK) else ""
    old, new = lines(before.removeprefix(_MARK)), lines(text)
    windows = sum(line.endswith("\r\n") for line in old)
    if not windows:
        return mark + text
    head = _same(old, new)
    tail = min(_same(reversed(old), reversed(new)), len(old) - head, len(new) - head)
    end = "\r\n" if 2 * windows >= len(old) else "\n"
    middle = (f"{line[:-1]}{end}" if line.endswith("\n") else line for line in new[head : len(new) - tail])
    return mark + "".join([*old[:head], *middle, *old[len(old) - tail :]])


def lines(text: str) -> list[str]:
    """The lines with their ends. Only LF ends a line: a single CR is an ordinary character."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _same(old: Iterable[str], new: Iterable[str]) -> int:
    pairs = takewhile(lambda pair: in_lf(pair[0]) == pair[1], zip(old, new, strict=False))
    return sum(1 for _ in pairs)
