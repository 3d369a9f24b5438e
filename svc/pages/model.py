"""The records of pages, and the rules for paths and titles. All are frozen or pure; none knows SQL or the wire."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

from svc.clock import Millis
from svc.errors import Invalid, TooLarge
from svc.inert import first_hidden

Kind = Literal["page", "surface"]
Access = Literal["inherited", "explicit"]
Level = Literal["read", "write"]

EVERYONE: Final = "everyone"
"""The grantee that means each signed-in user."""

MAX_PATH_BYTES: Final = 1_000
"""The path of a page in UTF-8; percent-encoded it still fits the target of a request. Beyond: 400 `invalid`."""
MAX_SEGMENT_CHARS: Final = 200
"""One part of the path of a page. Beyond: 400 `invalid`."""
MAX_DEPTH: Final = 16
"""Parts of the path of a page. Beyond: 400 `invalid`."""
MAX_TITLE_CHARS: Final = 200
"""The title of a page. Beyond: 400 `invalid`."""
MAX_BODY_BYTES: Final = 1024 * 1024
"""The text of a page. Beyond: 413 `too_large`."""
MAX_GRANTS: Final = 200
"""Grants of one page; each makes a live update when the page changes. Beyond: 400 `invalid`."""
MAX_SUBTREE_PAGES: Final = 10_000
"""Pages that one call moves or deletes. Beyond: 409 `conflict`."""
MAX_LISTED_PAGES: Final = 10_000
"""Listed pages directly below one. Beyond: the rest is not listed."""
MAX_LISTED_REVISIONS: Final = 500
"""Listed revisions of a page. Beyond: older ones are not listed."""
MAX_LISTED_BACKLINKS: Final = 200
"""Listed pages that link to one. Beyond: the rest is not listed."""

SHARED_SURFACES: Final = (
    ("inbox", "Inbox"),
    ("task-queue", "Task queue"),
    ("reminders", "Reminders"),
    ("calendar", "Calendar"),
    ("mail", "Mail"),
    ("im", "Messages"),
    ("memory", "Memory"),
)
"""Path and title of the pages that the claim opens to everyone."""

ACTING: Final = ("mail-rules", "agents", "mcp")
"""Folders whose pages act as their owner, so nobody else writes one. A test compares this list with the
existing kinds."""

_UNWRITABLE: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})  # control, lone surrogates, line and paragraph separators
_BIDI_CONTROLS: Final = frozenset(
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)  # these make a path look like another one


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page as one of its readers sees it; ``can_write`` is about that reader.

    ``source_id`` is the page whose grants apply here: itself when ``access`` is explicit, else the nearest explicit one
    above; ``None`` when there is none: then only the owner has access. ``owner_id`` is ``None`` until the claim.
    """

    id: str
    path: str
    title: str
    kind: Kind
    owner_id: str | None
    access: Access
    source_id: str | None
    revision: int
    updated_at: Millis
    can_write: bool


@dataclass(frozen=True, kw_only=True)
class Grant:
    """``to`` is a user id or :data:`EVERYONE`. Write implies read."""

    to: str
    level: Level


@dataclass(frozen=True, kw_only=True)
class Revision:
    revision: int
    title: str
    author_id: str | None
    author_name: str | None
    device_id: str
    at: Millis


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """A revision before the newest one."""

    title: str
    author_id: str | None
    at: Millis
    body: str


def page_path(text: str) -> str:
    """The canonical spelling of a path: ``a/b/c``, composed (NFC), each segment trimmed. Raises `Invalid`."""
    segments = [segment.strip() for segment in unicodedata.normalize("NFC", text).split("/")]
    if any(segment in {"", ".", ".."} for segment in segments):
        raise Invalid("A path is a/b/c, without empty parts, '.' and '..'.")
    if len(segments) > MAX_DEPTH:
        raise Invalid(f"A path has at most {MAX_DEPTH} parts.")
    if any(len(segment) > MAX_SEGMENT_CHARS for segment in segments):
        raise Invalid(f"Each part of a path has at most {MAX_SEGMENT_CHARS} characters.")
    path = "/".join(segments)
    if not _is_writable(path):
        raise Invalid("A path has no control characters.")
    if len(path.encode()) > MAX_PATH_BYTES:
        raise Invalid(f"A path has at most {MAX_PATH_BYTES} bytes.")
    return path


def new_page_path(text: str) -> str:
    """The canonical spelling of a path for a page that is made or moved. It may not look like another one: a path that
    exists may hold invisible characters from before they were refused. Raises `Invalid`.
    """
    path = page_path(text)
    hidden = first_hidden(path)
    if hidden is not None:
        name = unicodedata.name(hidden, "a character without a name")
        raise Invalid(f"A new path has no invisible characters. This one holds U+{ord(hidden):04X} ({name}).")
    return path


def page_title(text: str | None, *, path: str) -> str:
    """A page's title; without one, the last part of its path. Raises `Invalid`."""
    title = (text or "").strip() or path.rpartition("/")[2]
    if len(title) > MAX_TITLE_CHARS or not _is_writable(title):
        raise Invalid(f"A title has at most {MAX_TITLE_CHARS} characters, and no control characters.")
    return title


def page_body(text: str) -> str:
    """A page's text. Raises `TooLarge`, or `Invalid` if it is not valid text."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise Invalid("The body holds half of a character.") from error
    if size > MAX_BODY_BYTES:
        raise TooLarge(f"A page holds at most {MAX_BODY_BYTES} bytes.")
    if "\0" in text:
        raise Invalid("The body holds a NUL character.")
    return text


def paths_above(path: str) -> list[str]:
    """The paths of the ancestors, nearest first."""
    above = []
    while "/" in path:
        path = path.rpartition("/")[0]
        above.append(path)
    return above


def acts(path: str) -> bool:
    """Whether a page at ``path`` acts as its owner."""
    return path not in ACTING and path.split("/", 1)[0] in ACTING


def is_below(path: str, top: str) -> bool:
    return path.startswith(f"{top}/")


def _is_writable(text: str) -> bool:
    if text.isascii():
        return text.isprintable()
    return not any(unicodedata.category(symbol) in _UNWRITABLE or symbol in _BIDI_CONTROLS for symbol in text)
