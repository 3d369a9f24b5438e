"""Reads the name and the type that a client gives an upload, strictly, and makes them safe: they are untrusted input.

A name is data to show and to offer for saving; no code opens a file by it. Even so it never has a path, a control
character, or anything that hides part of it or reorders it on the screen.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final
from urllib.parse import unquote_to_bytes

from svc.errors import Invalid, Refusal

MAX_NAME_BYTES: Final = 255
"""The name of a file. Beyond: it is cut before its ending."""
MAX_EXTENSION_BYTES: Final = 20
"""An ending that is kept when a name is cut. Beyond: it is cut with the rest."""
MAX_TYPE_CHARS: Final = 255
"""The media type of a file. Beyond: it counts as unknown."""
DEFAULT_NAME: Final = "file"
DEFAULT_TYPE: Final = "application/octet-stream"

_ESCAPED: Final = re.compile(r"(?:[\x20-\x24\x26-\x7e]|%[0-9A-Fa-f]{2})*")
_LEADING: Final = re.compile(r"""(?:[ "']|[A-Za-z]:(?=.))+""")  # blanks, quotes, and the drives of another system
_TRAILING: Final = " \"'."
_ILLEGAL_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS: Final = frozenset("\u200c\u200d")
_STRAY_JOINERS: Final = re.compile(
    # Persian, Indic scripts and emoji need the (non-)joiner between two characters; elsewhere it only hides.
    r"(?<![^\x00-\x7f\u200c\u200d])[\u200c\u200d]+|[\u200c\u200d]+(?![^\x00-\x7f\u200c\u200d])"
)
_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")  # letters and marks that are invisible

_WORD: Final = r"[A-Za-z0-9!#$&^_.+-]{1,127}"
_TYPE: Final = re.compile(rf"{_WORD}/{_WORD}[ \t]*(?:;[\x20-\x7e\t]*)?")


def name_from_header(value: str | None) -> str:
    """The file's name from ``X-Svc-Filename``, percent-encoded UTF-8. Raises :class:`Invalid` for another form."""
    if value is None:
        return DEFAULT_NAME
    if not _ESCAPED.fullmatch(value):
        raise Invalid("X-Svc-Filename must be percent-encoded UTF-8.")
    try:
        return safe_name(unquote_to_bytes(value).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Invalid("X-Svc-Filename must be percent-encoded UTF-8.") from error


def safe_name(raw: str) -> str:
    """The last component of ``raw`` as one visible line of at most 255 bytes, its extension kept; or a default."""
    line = " ".join(raw.split())  # removes line ends of every kind, too
    line = _STRAY_JOINERS.sub("", "".join(symbol for symbol in line if _is_visible(symbol)))
    name = line.replace("\\", "/").rstrip("/" + _TRAILING).rpartition("/")[2]
    leading = _LEADING.match(name)
    name = name[leading.end() :] if leading else name
    return _shortened(" ".join(name.split())) or DEFAULT_NAME


def numbered_name(name: str, number: int) -> str:
    """``a (2).txt`` for ``a.txt``: as safe and as short as ``safe_name`` makes it."""
    stem, ending = _parts(name)
    return safe_name(_cut(stem, f" ({number}){ending}"))


def type_from_headers(values: list[str]) -> str:
    """The media type from ``Content-Type``. Multipart is refused: parsing it would need memory for all of it."""
    if any(value.strip().lower().startswith("multipart/") for value in values):
        raise Refusal(
            "Send the file itself as the body, with its type in Content-Type; multipart forms are not taken.",
            code="unsupported_media_type",
        )
    if len(values) != 1 or len(values[0]) > MAX_TYPE_CHARS or not _TYPE.fullmatch(values[0].strip()):
        return DEFAULT_TYPE
    return values[0].strip()


def _is_visible(symbol: str) -> bool:
    if symbol in _JOINERS:
        return True
    return unicodedata.category(symbol) not in _ILLEGAL_CATEGORIES and symbol not in _INVISIBLE


def _shortened(name: str) -> str:
    if len(name.encode()) <= MAX_NAME_BYTES:
        return name
    return _STRAY_JOINERS.sub("", _cut(*_parts(name))).rstrip(_TRAILING)


def _parts(name: str) -> tuple[str, str]:
    """The name without its ending, and the ending: empty if it is too long to be one."""
    stem, dot, extension = name.rpartition(".")
    ending = dot + extension
    return (stem, ending) if stem and len(ending.encode()) <= MAX_EXTENSION_BYTES else (name, "")


def _cut(stem: str, tail: str) -> str:
    """At most 255 bytes, with the whole tail."""
    return stem.encode()[: MAX_NAME_BYTES - len(tail.encode())].decode("utf-8", "ignore") + tail
