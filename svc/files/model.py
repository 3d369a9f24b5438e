"""The records of files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from svc.clock import Millis

UPLOAD: Final = "upload"
"""The origin of an upload. An attachment's is ``mail:<message id>``, or ``draft:`` and ``outgoing:``."""

FILES_TOPIC: Final = "files"


@dataclass(frozen=True, kw_only=True)
class File:
    """A name, a type and the blob they belong to."""

    id: str
    sha256: str
    name: str
    mime: str
    size: int
    created_at: Millis


@dataclass(frozen=True, kw_only=True)
class Cursor:
    """A position in a sorted list: it continues after this file, which had that time, name or size."""

    sort: str
    value: int | str
    id: str
