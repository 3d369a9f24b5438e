"""Translates between folders and labels, for mailboxes that keep each message in one folder. Only this module does it.

Theory: a folder is a label, and a message carries at most one label of this kind. The archive is the folder without a
label. Unread and starred are flags. Keywords are flags, too: a user's own labels, any number for each message. A change
of labels becomes a move and flags; a move that another program made becomes a change of labels. A message that leaves
spam or trash without a new folder goes back to where it came from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from svc.mail.model import DRAFT, INBOX, SENT, SPAM, STARRED, TRASH, UNREAD

ARCHIVE: Final = ""
"""The folder that has no label."""

FLAGS: Final = frozenset({UNREAD, STARRED})
ROLES: Final = (TRASH, SPAM, INBOX, DRAFT, SENT)
"""The folders that every mailbox has beside its archive. If a change adds two of them, the first in this list wins."""

KEYWORD: Final = "keyword/"
"""The prefix of the label ids of keywords."""

_AWAY: Final = frozenset({SPAM, TRASH})


@dataclass(frozen=True, kw_only=True)
class Place:
    """A message's folder and flags. ``folder``: one of :data:`ROLES`, the archive, or a user's own folder.
    ``came_from``: the folder in which it was before it went to spam or trash."""

    folder: str
    seen: bool = True
    flagged: bool = False
    came_from: str = ARCHIVE
    keywords: frozenset[str] = frozenset()
    """As label ids."""


def labels_of(place: Place) -> frozenset[str]:
    folder = frozenset() if place.folder == ARCHIVE else frozenset({place.folder})
    flags = ({UNREAD} if not place.seen else set()) | ({STARRED} if place.flagged else set())
    return folder | flags | place.keywords


def relabelled(place: Place, *, add: frozenset[str], remove: frozenset[str]) -> Place:
    """The folder and flags of a message after a change of labels. Idempotent."""
    carried = (labels_of(place) - remove) | add
    moved = _moved(place, _folder_after(place, add=add, remove=remove), left=remove)
    keywords = frozenset(label for label in carried if label.startswith(KEYWORD))
    return replace(moved, seen=UNREAD not in carried, flagged=STARRED in carried, keywords=keywords)


def told(before: Place, after: Place) -> tuple[frozenset[str], frozenset[str]]:
    """The difference of two places, as labels added and labels removed."""
    return labels_of(after) - labels_of(before), labels_of(before) - labels_of(after)


def _folder_after(place: Place, *, add: frozenset[str], remove: frozenset[str]) -> str:
    wanted = {label for label in add - FLAGS if not label.startswith(KEYWORD)}
    if wanted:
        return next((role for role in ROLES if role in wanted), min(wanted))
    if place.folder not in remove:
        return place.folder
    back = place.came_from if place.folder in _AWAY else ARCHIVE
    return ARCHIVE if back in remove else back


def _moved(place: Place, folder: str, *, left: frozenset[str]) -> Place:
    """``left``: folders that the message must not go back to later."""
    if folder == place.folder or folder not in _AWAY:
        return replace(place, folder=folder, came_from=place.came_from if folder in _AWAY else ARCHIVE)
    came_from = place.came_from if place.folder in _AWAY else place.folder
    return replace(place, folder=folder, came_from=ARCHIVE if came_from in left else came_from)
