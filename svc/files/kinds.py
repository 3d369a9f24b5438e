"""The kind of a file, for its icon, for a filter, and for what can show it. By its type, or by its name where the
sender gave no known type. Pure.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from svc.files.disposition import media_type

Kind = Literal["image", "audio", "video", "pdf", "text", "document", "sheet", "slides", "calendar", "archive", "other"]

_BY_TYPE: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("pdf", re.compile(r"application/(x-)?pdf")),
    ("calendar", re.compile(r"text/calendar|application/ics")),
    ("sheet", re.compile(r"text/csv|.*(spreadsheet|excel).*")),
    ("slides", re.compile(r".*(presentation|powerpoint).*")),
    ("document", re.compile(r".*(wordprocessing|msword|opendocument\.text|rtf).*")),
    ("archive", re.compile(r"application/(zip|gzip|x-(7z|tar|rar|bzip|xz|zip|gzip).*|vnd\.rar|zstd)")),
    ("image", re.compile(r"image/.*")),
    ("audio", re.compile(r"audio/.*")),
    ("video", re.compile(r"video/.*")),
    ("text", re.compile(r"text/.*|application/(json|xml|.*yaml)")),
)
_BY_ENDING: Final[dict[str, Kind]] = {
    "pdf": "pdf",
    "ics": "calendar",
    "zip": "archive",
    "gz": "archive",
    "tar": "archive",
    "7z": "archive",
    "docx": "document",
    "odt": "document",
    "xlsx": "sheet",
    "ods": "sheet",
    "csv": "sheet",
    "pptx": "slides",
    "odp": "slides",
}
_UNTYPED: Final = frozenset({"", "application/octet-stream", "application/x-download", "application/force-download"})


def kind_of(mime: str, name: str) -> Kind:
    kind = media_type(mime)
    if kind in _UNTYPED:
        return _BY_ENDING.get(name.rpartition(".")[2].lower(), "other")
    return next((one for one, form in _BY_TYPE if form.fullmatch(kind)), "other")
