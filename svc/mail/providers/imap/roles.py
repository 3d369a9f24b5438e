"""Finds the role of each folder: inbox, archive, sent and so on, or a user's own folder.

Many servers name the role (SPECIAL-USE, RFC 6154). For others, the usual names of folders decide. A folder that only
shows messages of other folders (all mail, flagged, important) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from svc.mail.model import DRAFT, INBOX, SENT, SPAM, TRASH
from svc.mail.providers.folders import ARCHIVE, KEYWORD
from svc.mail.providers.imap.protocol.names import shown_name, written_name
from svc.mail.providers.imap.protocol.responses import Folder

OWN_FOLDER: Final = "folder/"
"""The prefix of the label ids of a user's own folders."""

_USES: Final[Mapping[str, str]] = {
    "\\sent": SENT,
    "\\drafts": DRAFT,
    "\\junk": SPAM,
    "\\trash": TRASH,
    "\\archive": ARCHIVE,
}
USE_OF: Final[Mapping[str, str]] = {label: use for use, label in _USES.items()}
_VIRTUAL: Final = frozenset({"\\all", "\\flagged", "\\important", "\\noselect", "\\nonexistent"})
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    SENT: (
        *("sent", "sent items", "sent messages", "sent mail", "gesendet", "gesendete objekte", "gesendete elemente"),
        *("envoyés", "éléments envoyés", "messages envoyés", "enviados", "inviata", "posta inviata", "отправленные"),
    ),
    DRAFT: ("drafts", "draft", "entwürfe", "brouillons", "borradores", "bozze", "черновики"),
    SPAM: (
        *("junk", "spam", "junk e-mail", "junk email", "bulk mail", "spamverdacht", "unerwünscht", "indésirables"),
        *("courrier indésirable", "correo no deseado", "posta indesiderata", "спам"),
    ),
    TRASH: (
        *("trash", "deleted items", "deleted messages", "deleted", "papierkorb", "gelöschte elemente", "gelöscht"),
        *("corbeille", "éléments supprimés", "papelera", "cestino", "корзина"),
    ),
    ARCHIVE: ("archive", "archives", "archiv", "archivio", "архив"),
}
NEW_NAMES: Final[Mapping[str, str]] = {
    SENT: "Sent",
    DRAFT: "Drafts",
    SPAM: "Junk",
    TRASH: "Trash",
    ARCHIVE: "Archive",
}

_KEYWORD_NAMES: Final[Mapping[str, str]] = {  # as Thunderbird calls them
    "$label1": "Important",
    "$label2": "Work",
    "$label3": "Personal",
    "$label4": "To Do",
    "$label5": "Later",
}
_NO_ATOM: Final = re.compile(r"[(){ %*\"\\\]]")
MAX_KEYWORD_CHARS: Final = 60
_NO_LABELS: Final = frozenset(
    {"junk", "nonjunk", "notjunk", "junkrecorded", "forwarded", "mdnsent", "old", "redirected"}
)


@dataclass(frozen=True, kw_only=True)
class Place:
    """A folder that holds messages. ``label``: the label that they carry."""

    name: bytes
    label: str
    shown: str


def places(folders: Iterable[Folder]) -> list[Place]:
    """The folders that hold messages, the inbox first."""
    real = [one for one in folders if one.name and not one.attributes & _VIRTUAL]
    taken: dict[str, bytes] = {INBOX: next((one.name for one in real if one.name.upper() == b"INBOX"), b"INBOX")}
    for one in real:
        for use in sorted(one.attributes & _USES.keys()):
            taken.setdefault(_USES[use], one.name)
    for label, names in _NAMES.items():
        free = {_last_step(one): one.name for one in real if one.name not in taken.values() and _is_near(one)}
        known = next((free[name] for name in names if name in free), None)
        if known is not None:
            taken.setdefault(label, known)
    label_of = {name: label for label, name in taken.items()}
    found = [
        Place(name=one.name, label=label_of.get(one.name, own_label(one.name)), shown=shown_name(one.name))
        for one in {one.name: one for one in real}.values()
    ]
    return sorted(found, key=lambda one: (one.label != INBOX, one.name))


def own_label(name: bytes) -> str:
    return OWN_FOLDER + name.decode("latin-1")


def keyword_label(flag: str) -> str | None:
    """The label of a keyword; ``None`` for keywords that programs set for their own use."""
    small = flag.lower()
    if flag.startswith("\\") or small in _NO_LABELS or (small.startswith("$") and small not in _KEYWORD_NAMES):
        return None
    return KEYWORD + flag


def keyword_for(name: str) -> str:
    """The keyword for a new label, with the characters that a keyword may have (RFC 3501, atom)."""
    return _NO_ATOM.sub("_", written_name(name).decode("ascii"))[:MAX_KEYWORD_CHARS]


def keyword_of(label: str) -> str:
    return label.removeprefix(KEYWORD)


def keyword_name(label: str) -> str:
    return _KEYWORD_NAMES.get(keyword_of(label).lower(), keyword_of(label))


def _last_step(folder: Folder) -> str:
    return shown_name(folder.name.rpartition(folder.delimiter)[2] if folder.delimiter else folder.name).lower()


def _is_near(folder: Folder) -> bool:
    """Whether a folder is at the top level, or right below the inbox, where some servers keep all folders."""
    steps = folder.name.split(folder.delimiter) if folder.delimiter else [folder.name]
    return len(steps) == 1 or (len(steps) == 2 and steps[0].upper() == b"INBOX")
