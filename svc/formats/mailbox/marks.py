"""Reads and writes the data of a mail in a mailbox that is not in its bytes: labels, read, starred. It is written as
header fields above the mail's own.

Theory: the fields that an export adds come first, in a fixed order: ``X-Gmail-Labels``, ``Status``, ``X-Status``, and
``X-Svc-Unended`` if the mail's last line has no end. An import removes exactly these, so the mail gets its own bytes
back, and the same mail from two exports is the same. Google's own export puts ``X-GM-THRID`` before its labels and no
status after them: that field is removed too. The same fields in another place belong to the mail: they are read if
nothing else says more, and stay.

Labels are one field of comma-separated names. A quoted name is never a system label, so a user's label with the name
``Inbox`` stays a user's label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from svc.formats.mailbox import takeout
from svc.formats.mime.fields import Fields, read_fields
from svc.formats.mime.model import Problems
from svc.formats.mime.words import decode_words, header_text
from svc.formats.writing.headers import encoded_words, field

MAX_LABELS: Final = 100
MAX_LABEL_CHARS: Final = 225
MAX_TAGS_BYTES: Final = 4_096

UNREAD: Final = "UNREAD"
STARRED: Final = "STARRED"
DRAFT: Final = "DRAFT"
SENT: Final = "SENT"

_ADDED: Final = re.compile(
    rb"(?:X-GM-THRID:[^\n]*\n)?"
    rb"(?P<labels>X-Gmail-Labels:[^\n]*\n(?:[ \t][^\n]*\n)*)"
    rb"(?P<status>Status: [RO]*\r\nX-Status: [FA]*\r\n(?:X-Svc-Unended: (?P<unended>yes|no)\r\n)?)?"
)
_TAGS: Final = {
    "$label1": "Important",
    "$label2": "Work",
    "$label3": "Personal",
    "$label4": "To Do",
    "$label5": "Later",
}
"""The names that Thunderbird gives its first five tags. It writes its other tags by their names."""
_NO_TAGS: Final = frozenset({"junk", "nonjunk", "notjunk", "junkrecorded", "forwarded", "mdnsent", "old", "redirected"})
_NAME: Final = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(?:,|$)')
_DELETED_MOZILLA, _READ_MOZILLA, _STARRED_MOZILLA = 0x8, 0x1, 0x4


@dataclass(frozen=True, kw_only=True)
class Marks:
    """``system``: ids of system labels, including unread and starred. ``own``: names of the user's labels, in order.
    ``said_labels``: the file names labels, so they are not guessed from a folder. ``is_deleted``: marked as deleted by
    a program that has not yet removed it from its file."""

    system: frozenset[str] = frozenset()
    own: tuple[str, ...] = ()
    said_labels: bool = False
    is_deleted: bool = False


def read_marks(raw: bytes) -> tuple[Marks, bytes]:
    """The marks from the fields of a mail, and the mail without the fields that an export added."""
    added = _ADDED.match(raw)
    if added is None:
        return _marks_of(_fields(raw)), raw
    mail = raw[added.end() :]
    if added["unended"] == b"yes":
        mail = mail.removesuffix(b"\n")
    return _from_labels(_unfolded(added["labels"])), mail


def with_marks(raw: bytes, *, system: frozenset[str], own: tuple[str, ...]) -> bytes:
    """The mail with its marks above it. The result ends with a line end."""
    names = [takeout.NAMES[label] for label in takeout.NAMES if label in system]
    text = ",".join([*names, *map(_quoted, own)])
    words = encoded_words(text) if "=?" in text or not (text.isascii() and text.isprintable()) else text.split(" ")
    plain = all(word and len(word) < 900 for word in words)
    labels = field("X-Gmail-Labels", (words if plain else encoded_words(text)) if text else [])
    status = b"Status: O\r\n" if UNREAD in system else b"Status: RO\r\n"
    stars = b"X-Status: F\r\n" if STARRED in system else b"X-Status: \r\n"
    end = b"" if raw.endswith(b"\n") else b"\n"
    unended = b""
    if end or raw.startswith(b"X-Svc-Unended:"):  # a mail that begins like this would otherwise count as marked
        unended = b"X-Svc-Unended: yes\r\n" if end else b"X-Svc-Unended: no\r\n"
    return b"".join((labels, status, stars, unended, raw, end))


def split_labels(text: str) -> list[tuple[str, bool]]:
    """The names in a decoded list, each with whether it was quoted."""
    found: list[tuple[str, bool]] = []
    position = 0
    while position < len(text) and len(found) < MAX_LABELS:
        match = _NAME.match(text, position)
        if match is None:  # an open quote, or text after a closed one: a name like any other
            end = text.find(",", position)
            end = len(text) if end < 0 else end
            name, quoted, position = text[position:end].strip(), False, end + 1
        else:
            quoted = match[1] is not None
            name = match[1].replace('""', '"') if quoted else match[2].strip()
            position = match.end()
        if name:
            found.append((name[:MAX_LABEL_CHARS], quoted))
    return found


def _from_labels(value: bytes) -> Marks:
    problems = Problems()
    text = decode_words(header_text(value, problems=problems), problems=problems)
    system: set[str] = set()
    own: list[str] = []
    for name, quoted in split_labels(text):
        label = None if quoted else takeout.label_of(name)
        if label is None:
            own.append(name)
        elif label:
            system.add(label)
    return Marks(system=frozenset(system), own=tuple(dict.fromkeys(own)), said_labels=True)


def _marks_of(fields: Fields) -> Marks:
    """The marks of a mail without an export's fields above it. Without a read status it counts as read."""
    found = Marks()
    if fields.all("x-gmail-labels"):
        found = _from_labels(fields.first("x-gmail-labels"))
    status = fields.first("status").upper()
    more = fields.first("x-status").upper()
    mozilla = _flags(fields.first("x-mozilla-status"))
    system = set(found.system)
    if not found.said_labels:
        unread = b"R" not in status if fields.all("status") else mozilla is not None and not mozilla & _READ_MOZILLA
        system |= {UNREAD} if unread else set()
        system |= {STARRED} if b"F" in more or (mozilla or 0) & _STARRED_MOZILLA else set()
        system |= {DRAFT} if b"T" in more else set()
    deleted = bool((mozilla or 0) & _DELETED_MOZILLA)
    own = tuple(dict.fromkeys((*found.own, *_tags(fields.first("x-mozilla-keys")))))
    return Marks(system=frozenset(system), own=own, said_labels=found.said_labels, is_deleted=deleted)


def _tags(value: bytes) -> list[str]:
    """The tags of Thunderbird, without the keywords that programs set for their own use."""
    small = [(word, word.lower()) for word in value[:MAX_TAGS_BYTES].decode("utf-8", "replace").split()[:MAX_LABELS]]
    return [_TAGS.get(low, word) for word, low in small if low in _TAGS or not (low[0] == "$" or low in _NO_TAGS)]


def _fields(raw: bytes) -> Fields:
    return read_fields(raw, 0, is_delimiter=lambda line: False, problems=Problems()).fields


def _flags(value: bytes) -> int | None:
    try:
        return int(value[:8], 16)
    except ValueError:
        return None


def _unfolded(lines: bytes) -> bytes:
    return re.sub(rb"\r?\n[ \t]", b" ", lines.partition(b":")[2]).strip()


def _quoted(name: str) -> str:
    """The name, in quotes if it would otherwise be read as something else."""
    needs = any(one in name for one in ',"') or name != name.strip() or takeout.label_of(name) is not None
    return '"' + name.replace('"', '""') + '"' if needs else name
