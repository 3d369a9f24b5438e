"""Mailboxes that keep each message in one folder, told in labels: the one place where the two stand side by side.

Theory: a folder is a label of which a message carries at most one; the archive is the folder without a label. Read and
starred are flags, and so are keywords: labels of one's own, as many as one likes. A change of labels becomes a move and
flags, and a move that was made elsewhere becomes a change of
labels. What leaves spam or trash without being told where to goes back to where it came from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from svc.mail.model import DRAFT, INBOX, SENT, SPAM, STARRED, TRASH, UNREAD

ARCHIVE: Final = ""
"""The folder that no label stands for."""

FLAGS: Final = frozenset({UNREAD, STARRED})
ROLES: Final = (TRASH, SPAM, INBOX, DRAFT, SENT)
"""The folders that every mailbox has beside its archive. Of two asked for at once the one that stands first wins."""

KEYWORD: Final = "keyword/"
"""So begin the ids of labels that are keywords."""

_AWAY: Final = frozenset({SPAM, TRASH})


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a message lies and how it is flagged. ``folder``: one of :data:`ROLES`, the archive, or a folder of one's
    own. ``came_from``: where it lay before it came to spam or trash."""

    folder: str
    seen: bool = True
    flagged: bool = False
    came_from: str = ARCHIVE
    keywords: frozenset[str] = frozenset()
    """The ids of their labels."""


def labels_of(place: Place) -> frozenset[str]:
    folder = frozenset() if place.folder == ARCHIVE else frozenset({place.folder})
    flags = ({UNREAD} if not place.seen else set()) | ({STARRED} if place.flagged else set())
    return folder | flags | place.keywords


def relabelled(place: Place, *, add: frozenset[str], remove: frozenset[str]) -> Place:
    """Where a message belongs, and its flags, after a change of labels. Repeated, it changes nothing more."""
    carried = (labels_of(place) - remove) | add
    moved = _moved(place, _folder_after(place, add=add, remove=remove), left=remove)
    keywords = frozenset(label for label in carried if label.startswith(KEYWORD))
    return replace(moved, seen=UNREAD not in carried, flagged=STARRED in carried, keywords=keywords)


def told(before: Place, after: Place) -> tuple[frozenset[str], frozenset[str]]:
    """What changed, as labels that came and labels that went."""
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
    """``left``: what it is not to come back to."""
    if folder == place.folder or folder not in _AWAY:
        return replace(place, folder=folder, came_from=place.came_from if folder in _AWAY else ARCHIVE)
    came_from = place.came_from if place.folder in _AWAY else place.folder
    return replace(place, folder=folder, came_from=ARCHIVE if came_from in left else came_from)
