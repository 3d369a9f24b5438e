"""The mails of Apple Mail: a file for each, with its size in the first line and what the program knows of it at the
end, in folders such as ``Work.mbox/…/Messages``."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from svc.formats.mailbox.marks import DRAFT, STARRED, UNREAD, Marks

SUFFIX: Final = ".emlx"
MAX_AROUND_BYTES: Final = 64 * 1024
"""The bytes of such a file beside those of its mail."""

_SIZE: Final = re.compile(rb"[ \t]*(\d{1,12})[ \t]*\r?\n")
_FLAGS: Final = re.compile(rb"<key>flags</key>\s*<integer>(\d{1,18})</integer>")
_READ, _DELETED, _FLAGGED, _IS_DRAFT = 0x1, 0x2, 0x10, 0x40


def read(data: bytes) -> tuple[bytes, Marks] | None:
    """The mail in such a file, and its marks; ``None`` if the file is something else, or is cut off."""
    line = _SIZE.match(data)
    if line is None:
        return None
    end = line.end() + int(line[1])
    if end > len(data):
        return None
    found = _FLAGS.search(data, end)
    flags = _READ if found is None else int(found[1])
    told = {UNREAD: not flags & _READ, STARRED: bool(flags & _FLAGGED), DRAFT: bool(flags & _IS_DRAFT)}
    system = frozenset(label for label, is_set in told.items() if is_set)
    return data[line.end() : end], Marks(system=system, is_deleted=bool(flags & _DELETED))


def folder_of(path: PurePosixPath) -> str:
    """The folder of a file, by its path: the innermost one that is a mailbox; empty if there is none."""
    boxes = [part[: -len(".mbox")] for part in path.parts[:-1] if part.lower().endswith(".mbox")]
    return boxes[-1] if boxes else ""
